import { test } from 'node:test'
import { dieAtEach, limit } from './short.ts'

test(
  'killed during a sign-up, a launch and a block, Berth starts again with nothing lost, doubled or left over',
  limit,
  async (t) => {
    await dieAtEach(t, ['signup.after-user', 'launch.after-create', 'block.after-store'])
  },
)
