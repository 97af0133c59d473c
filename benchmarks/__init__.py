"""What the product is measured with: sample archives, speed, growth, cost. A plain install does not need it."""
