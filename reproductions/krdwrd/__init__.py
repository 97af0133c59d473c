"""KrdWrd's chapter 4: what machines learn of labels by people."""
