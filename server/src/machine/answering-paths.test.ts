import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AnsweringPaths, SilentFileSystem, answeringPaths, type FileQuestions } from './answering-paths.ts'

/** File servers that are mounted below `/nfs1` to `/nfs4`; those that are away do not answer until they are back. */
class HangingFileServers implements FileQuestions {
  readonly asked: string[] = []
  readonly #away = new Map<string, PromiseWithResolvers<void>>()

  constructor(...away: string[]) {
    for (const mount of away) this.#away.set(mount, Promise.withResolvers())
  }

  async mountPoints(): Promise<readonly string[]> {
    return ['/', '/nfs1', '/nfs2', '/nfs3', '/nfs4', '/local/nfs1']
  }

  async reach(mount: string): Promise<void> {
    if (mount !== '/') this.asked.push(mount)
    await this.#away.get(mount)?.promise
  }

  /** As the kernel answers, which remembers files for a minute. */
  async linkOf(entry: string): Promise<string | undefined> {
    this.asked.push(entry)
    return entry === '/local/link' ? '../nfs1/homes' : undefined
  }

  async comeBack(mount: string): Promise<void> {
    this.#away.get(mount)?.resolve()
    await new Promise(setImmediate)
  }
}

const arrange = (...away: string[]) => {
  const servers = new HangingFileServers(...away)
  return { servers, paths: new AnsweringPaths(20, servers) }
}

// A launch looked at the mount synchronously: the API stood for all users until its server was back.
test('a file system that hangs is named in time, is asked once, and counts again when it is back', async () => {
  const { servers, paths } = arrange('/nfs1')
  const places = await Promise.all(['/nfs1/ann', '/nfs1/bob', '/local/ann'].map((each) => paths.silentPlace(each)))
  assert.deepEqual(places, ['/nfs1', '/nfs1', undefined])
  assert.equal(await paths.silentPlace('/nfs1/eve'), '/nfs1')
  assert.deepEqual(servers.asked, ['/nfs1', '/local', '/local/ann'])
  await servers.comeBack('/nfs1')
  assert.equal(await paths.silentPlace('/nfs1/ann'), undefined)
})

test('a link is followed to the file system that hangs, and what lies beside the link goes on', async () => {
  const { servers, paths } = arrange('/nfs1')
  assert.equal(await paths.silentPlace('/local/link/ann'), '/nfs1')
  assert.equal(await paths.silentPlace('/local/course'), undefined)
  assert.equal(await paths.silentPlace('/local/nfs1/course'), undefined)
  assert.ok(!servers.asked.includes('/nfs1/homes'))
})

test('no more than three file systems that hang are asked, because each holds a thread', async () => {
  const { servers, paths } = arrange('/nfs1', '/nfs2', '/nfs3', '/nfs4')
  for (const mount of ['/nfs1', '/nfs2', '/nfs3']) assert.equal(await paths.silentPlace(mount), mount)
  assert.equal(await paths.silentPlace('/nfs4'), '/nfs1, /nfs2, /nfs3')
  assert.deepEqual(servers.asked, ['/nfs1', '/nfs2', '/nfs3'])
  await servers.comeBack('/nfs2')
  assert.equal(await paths.silentPlace('/local'), undefined)
})

test('a question about a path fails with the place that hangs, and otherwise as it does', async () => {
  const { paths } = arrange()
  assert.equal(await paths.ask('/nfs1/ann', async () => 7), 7)
  await assert.rejects(
    paths.ask('/nfs1/ann', () => Promise.reject(new Error('as asked'))),
    /as asked/,
  )
  const away = arrange('/nfs1').paths
  await assert.rejects(
    away.ask('/nfs1/ann', async () => 7),
    SilentFileSystem,
  )
  const never = Promise.withResolvers<number>()
  const isOfNfs1 = (error: unknown) => error instanceof SilentFileSystem && error.place === '/nfs1'
  await assert.rejects(
    paths.ask('/nfs1/ann', () => never.promise),
    isOfNfs1,
  )
  await assert.rejects(
    paths.ask('/nfs1/bob', async () => 7),
    isOfNfs1,
  )
  assert.equal(await paths.ask('/nfs2/bob', async () => 7), 7)
})

test('folders of this machine answer, also those that are missing', async () => {
  for (const each of ['/', '/proc/self', '/no/such/folder', import.meta.dirname])
    assert.equal(await answeringPaths.silentPlace(each), undefined, each)
})
