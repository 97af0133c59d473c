// Widths of bars: a style in the page itself would be against its content policy.
for (const bar of document.querySelectorAll("[data-share]")) bar.style.width = `${bar.dataset.share}%`;
