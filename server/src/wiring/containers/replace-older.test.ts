import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContainerState } from '#/containers/state/container-state.ts'
import { readTemplate } from '#/containers/templates/read-templates.ts'
import { insertUser } from '#/store/users/users.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'
import { replaceOlder, type ReplaceOlderParts } from './replace-older.ts'

// Replacing takes minutes in a class: what was stopped meanwhile was started again.
test('a container that was stopped since it was listed stays stopped, and a paused one is stopped', async (t) => {
  const { db } = (await openTemporaryStore(t)).database
  const user = await insertUser(db, { email: 'ann@x.org', slug: 'ann', isAdmin: false, now: new Date() })
  const doneWith = async (seen: 'gone' | { readonly state: string } | undefined) => {
    let done = 'nothing'
    const parts = {
      db,
      templates: { get: () => readTemplate('dev', { image: 'x' }).template },
      routeSync: { get: () => ({ seen }) as ContainerState },
      idleSuspension: { stopNow: async () => void (done = 'stop') },
      spawner: { replace: async () => void (done = 'replace') },
    } as unknown as ReplaceOlderParts
    await replaceOlder(parts, 'dev', { userId: user.id })
    return done
  }
  assert.equal(await doneWith({ state: 'running' }), 'replace')
  assert.equal(await doneWith({ state: 'paused' }), 'stop')
  for (const ended of [{ state: 'exited' }, { state: 'created' }, 'gone', undefined] as const)
    assert.equal(await doneWith(ended), 'nothing')
})
