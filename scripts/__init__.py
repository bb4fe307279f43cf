"""Programs of this checkout: data, evaluation, the demo."""
