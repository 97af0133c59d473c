"""KrdWrd's chapter 4: machine learning on labels by people."""
