// Part of npm run test:long: downloads Debian's packages of rsync and sshfs.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { readFile, writeFile } from 'node:fs/promises'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { fetchFromDebian, unpacked } from '../../../bench/gateway/programs.ts'
import { eventually } from '#test/support/engine/runtimes.ts'
import { putPrograms } from './put-program.ts'
import { sshArgs, startSsh } from './ssh-rig.ts'

/** rsync and sshfs, as Debian has them. Source: contract, section 17. */
const libraries = unpacked(`usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`)
if (!existsSync(unpacked('usr/bin/rsync')) || !existsSync(unpacked('usr/bin/sshfs')))
  await fetchFromDebian(['rsync', 'sshfs', 'libfuse3-3', 'libpopt0', 'libxxhash0', 'libzstd1', 'liblz4-1'])
// Berth is in this process: it must not wait for a client.
const run = promisify(execFile)
const env = { ...process.env, LD_LIBRARY_PATH: libraries }

const rig = await startSsh({ after })
await rig.berth.administrator()
const ann = await rig.signUp('ann@x.org')
const key = rig.makeKey('ann', '-t', 'ed25519')
await rig.addKey(ann, key)
const said = async (command: string) => (await rig.run('ssh', sshArgs(rig, key, 'ann-dev', command))).output.toString()
const shell = ['ssh', ...rig.options(key), '-p', String(rig.port)].join(' ')

test('rsync copies a folder there and back, and sends only what changed', async () => {
  const container = `${rig.berth.installation}-ann-dev`
  await putPrograms(container, [{ file: unpacked('usr/bin/rsync'), as: ['/usr/bin/rsync'] }], { libraries })
  const [local, back] = [path.join(rig.folder, 'project/'), path.join(rig.folder, 'back/')]
  mkdirSync(local)
  writeFileSync(path.join(local, 'one.txt'), 'one')
  writeFileSync(path.join(local, 'large'), Buffer.alloc(3_000_000, 'large '))
  const rsync = async (...args: string[]) =>
    (await run(unpacked('usr/bin/rsync'), ['-a', '--stats', '-e', shell, ...args], { env })).stdout
  await rsync(local, 'ann-dev@127.0.0.1:project/')
  assert.equal(await said('cat project/one.txt'), 'one')
  writeFileSync(path.join(local, 'one.txt'), 'changed')
  const stats = await rsync('--no-whole-file', local, 'ann-dev@127.0.0.1:project/')
  assert.match(stats, /regular files transferred: 1$/m)
  await rsync('ann-dev@127.0.0.1:project/', back)
  assert.equal(readFileSync(path.join(back, 'one.txt'), 'utf8'), 'changed')
  assert.ok(readFileSync(path.join(back, 'large')).equals(readFileSync(path.join(local, 'large'))))
})

test('sshfs mounts the home, and files are read, written, renamed and removed in it', async (t) => {
  const mount = path.join(rig.folder, 'mount')
  mkdirSync(mount)
  const args = ['ann-dev@127.0.0.1:', mount, '-f', '-p', String(rig.port), '-o', `ssh_command=${shell}`]
  const child = spawn(unpacked('usr/bin/sshfs'), args, { env, stdio: 'inherit' })
  const ended = once(child, 'exit')
  t.after(async () => {
    child.kill()
    await ended
  })
  await eventually(() => assert.match(readFileSync('/proc/mounts', 'utf8'), /fuse\.sshfs/))
  await writeFile(path.join(mount, 'note'), 'by sshfs')
  assert.equal(await said('cat note'), 'by sshfs')
  await said('echo there > other')
  assert.equal(await readFile(path.join(mount, 'other'), 'utf8'), 'there\n')
  await run('sh', [
    '-c',
    'cd "$0" && mv note moved && mkdir folder && mv moved folder/ && rm other && ls -l folder',
    mount,
  ])
  assert.equal(await said('cat folder/moved; ls other 2>/dev/null'), 'by sshfs')
})
