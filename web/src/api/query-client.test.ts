import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InfiniteQueryObserver } from '@tanstack/react-query'
import { isOnePage, queryClient } from '#/api/query-client.ts'

test('after an outage a page refetches what is one request, and not each of many pages of a list', async () => {
  const asked: number[] = []
  const list = new InfiniteQueryObserver(queryClient, {
    queryKey: ['list'],
    queryFn: ({ pageParam }) => (asked.push(pageParam), Promise.resolve(pageParam)),
    initialPageParam: 0,
    getNextPageParam: (last: number) => last + 1,
  })
  const stop = list.subscribe(() => undefined)
  await list.refetch()
  await queryClient.invalidateQueries({ predicate: isOnePage })
  assert.deepEqual(asked, [0, 0])
  await list.fetchNextPage()
  await queryClient.invalidateQueries({ predicate: isOnePage })
  assert.deepEqual(asked, [0, 0, 1])
  stop()
  queryClient.clear()
})
