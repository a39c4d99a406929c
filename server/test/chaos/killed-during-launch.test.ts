// Part of npm run test:long: it dies at every step; `dying.test.ts` dies at one step of each kind of request.
import { test } from 'node:test'
import { dieAtEach, limit } from './short.ts'

test(
  'killed at any step of a launch or restart, Berth starts again with nothing lost, doubled or left over, and the next try works',
  limit,
  async (t) => {
    await dieAtEach(t, ['launch', 'restart'])
  },
)
