// Part of npm run test:more: a process that dies at a step; two-processes.test.ts and the reconciler have what follows a death.
import { test } from 'node:test'
import { dieAt, limit } from './short.ts'

test(
  'killed during a launch, a block and a restore of a home, Berth starts again with nothing lost, doubled or left over',
  limit,
  async (t) => {
    await dieAt(t, ['launch.after-create', 'block.after-store', 'home-restore.in-archive'])
  },
)
