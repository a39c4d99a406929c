import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AnsweringPaths } from './answering-paths.ts'

/** An NFS mount below `/nfs` whose server is gone until `comeBack`. */
class HangingMount {
  readonly asked: string[] = []
  readonly #server = Promise.withResolvers<void>()

  readonly ask = async (file: string): Promise<void> => {
    this.asked.push(file)
    if (file.startsWith('/nfs')) await this.#server.promise
    if (file === '/missing') throw new Error('ENOENT')
  }

  comeBack(): void {
    this.#server.resolve()
  }
}

// A launch looked at the mount synchronously: the API stood for all users until its server was back.
test('a file system that hangs is answered for in time, holds one thread, and counts again when it is back', async () => {
  const mount = new HangingMount()
  const paths = new AnsweringPaths(20, mount.ask)
  assert.equal(await paths.answer(['/local', '/missing']), true)
  assert.deepEqual(await Promise.all([paths.answer(['/nfs/a']), paths.answer(['/nfs/b'])]), [false, false])
  assert.equal(await paths.answer(['/local']), false)
  assert.deepEqual(mount.asked, ['/local', '/missing', '/nfs/a'])
  mount.comeBack()
  await new Promise(setImmediate)
  assert.equal(await paths.answer(['/nfs/a']), true)
})
