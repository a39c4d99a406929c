// Part of npm run test:long: it dies at every step; `dying.test.ts` dies at one step of each kind of request.
import { test } from 'node:test'
import { dieAtEach, limit } from './short.ts'

test(
  'killed at any step of a block, bulk block or deletion, Berth finishes it after the next start, with one audit entry',
  limit,
  async (t) => {
    await dieAtEach(t, ['block', 'bulk-block', 'delete'])
  },
)

test(
  'killed at any step of the end of a term, Berth goes on with it after the next start: no home without an archive is removed',
  limit,
  async (t) => {
    await dieAtEach(t, ['term-end'])
  },
)
