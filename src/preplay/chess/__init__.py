"""All that knows chess: engines, their analyses, policies, values and formats."""
