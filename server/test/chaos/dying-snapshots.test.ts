// Part of npm run test:long: it dies at every step; `dying.test.ts` dies at one step of each kind of request.
import { test } from 'node:test'
import { dieAtEach, limit } from './short.ts'

test(
  'killed at any step of a snapshot, a restore or a reset, homes and what is restored are whole or not there',
  limit,
  async (t) => {
    await dieAtEach(t, ['home-snapshot', 'home-restore', 'home-reset'])
  },
)
