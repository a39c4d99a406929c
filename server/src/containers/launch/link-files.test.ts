import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Refusal } from '#/refusals/errors.ts'
import { ensureContainer, storeContainer } from '#/store/user-containers.ts'
import { insertUser, type User } from '#/store/users.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'
import { LinkFiles, type LinkFilesParts } from './link-files.ts'

// All that were asked for had their turn in that order: one person's hundreds, of a repository that takes two minutes, held up a class.
test('links that one person follows again and again keep no other person waiting', async (t) => {
  const { database } = await openTemporaryStore(t)
  const { db } = database
  const person = async (slug: string): Promise<User> => {
    const user = await insertUser(db, { email: `${slug}@x.org`, slug, isAdmin: false, now: new Date() })
    const { id } = await ensureContainer(db, user.id, 'dev', 'image', new Date())
    await storeContainer(db, id, { containerId: slug, port: 80, image: 'image' })
    return user
  }
  const [ann, bob] = [await person('ann'), await person('bob')]
  const begun: string[] = []
  const end = Promise.withResolvers<never>()
  end.promise.catch(() => undefined)
  const parts: Partial<Record<keyof LinkFilesParts, unknown>> = {
    database,
    runtime: { capabilities: { pauses: true, putsFiles: true } },
    templates: { get: () => ({ home: '/home', homeSource: null }), openTypes: [] },
    rules: { refusalFor: async () => undefined },
    starterFiles: {
      prefetch: async ({ git }: { git: string }) => {
        begun.push(git)
        return end.promise
      },
    },
    installation: 'berth',
  }
  const files = new LinkFiles(['x.org'], parts as LinkFilesParts)
  const put = (user: User, name: string) =>
    files.put(user, 'dev', { git: `https://x.org/${name}`, ref: null, to: '' }, new Date())
  const asked = Array.from({ length: 20 }, () => put(ann, 'large'))
  for (const each of asked) each.catch(() => undefined)
  const refused = await Promise.allSettled(asked.slice(10))
  const codes = refused.map((each) => (each.status === 'rejected' ? (each.reason as Refusal).code : each.status))
  assert.deepEqual(new Set(codes), new Set(['tooManyLaunches']))
  const others = put(bob, 'small')
  while (!begun.includes('https://x.org/small')) await new Promise(setImmediate)
  assert.equal(begun.filter((each) => each.endsWith('large')).length, 1)
  end.reject(new Error('over'))
  await Promise.allSettled([...asked, others])
})
