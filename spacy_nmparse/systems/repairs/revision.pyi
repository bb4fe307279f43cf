SEARCH: int
