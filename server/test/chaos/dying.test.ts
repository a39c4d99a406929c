import { test } from 'node:test'
import { dieAt, limit } from './short.ts'

test(
  'killed during a launch and a block, Berth starts again with nothing lost, doubled or left over',
  limit,
  async (t) => {
    await dieAt(t, ['launch.after-create', 'block.after-store'])
  },
)
