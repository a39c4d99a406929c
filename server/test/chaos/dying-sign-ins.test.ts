// Part of npm run test:long: it dies at every step; `dying.test.ts` dies at one step of each kind of request.
import { test } from 'node:test'
import { dieAtEach, limit } from './short.ts'

test(
  'killed at any step of signing up, in, or using a link, Berth starts again: no link works twice, none is given beyond the limit',
  limit,
  async (t) => {
    await dieAtEach(t, ['signup', 'login', 'verify'])
  },
)
