"""The linear scorer: discrete features, a perceptron or a logistic regression."""
