"""Object stores and servers of files, asked and written to; only this room knows obstore.

`urls` says which stores there are, `credentials` sends a provider of them to the process that asks,
`client` reads objects, `calls` by blocking calls in threads, `limits` bounds what is asked and what
comes, and `errors` says what failed. For commands `listing` lists a store, `writing` writes to it,
and `download` copies a whole dataset.
"""
