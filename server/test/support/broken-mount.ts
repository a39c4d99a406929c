import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { argv } from 'node:process'

/**
 * - `stale`: each file has a stale handle, as on NFS once its server has replaced what it exports.
 * - `silent`: no question is answered, as on NFS without its server.
 */
export type Fault = 'stale' | 'silent'

/** Why no such file system can be mounted here; false when one can. */
export const skipBrokenMounts: string | false =
  process.getuid?.() !== 0 || !existsSync('/dev/fuse') ? 'needs root and /dev/fuse' : false

/**
 * Mounts a file system of the kernel that has a fault: one of FUSE, whose program answers every request with ESTALE, or none.
 * @returns what takes it away
 */
export async function mountBroken(folder: string, fault: Fault): Promise<() => Promise<void>> {
  const program = spawn(process.execPath, [import.meta.filename, folder, fault], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(program.stdout, 'data')
  return async () => {
    const ended = once(program, 'exit')
    program.kill('SIGKILL')
    await ended
    spawnSync('umount', ['-l', folder])
  }
}

/** Number of a request for the protocol's version, and of the two kinds that get no answer (linux/fuse.h). */
const [init, forget, batchForget] = [26, 2, 42]
const staleHandle = 116

async function serve(folder: string, fault: Fault): Promise<void> {
  // With the test, also where that is killed.
  process.stdin.resume().once('end', () => process.kill(process.pid, 'SIGKILL'))
  const device = await open('/dev/fuse', 'r+')
  const options = 'fd=3,rootmode=40000,user_id=0,group_id=0'
  const { status, stderr } = spawnSync('mount', ['-i', '-t', 'fuse', '-o', options, fault, folder], {
    stdio: ['ignore', 'ignore', 'pipe', device.fd],
  })
  if (status !== 0) throw new Error(`mount: ${String(stderr)}`)
  process.stdout.write('mounted\n')
  // Collected as garbage it would be closed, and each question answered with ENOTCONN.
  process.once('exit', () => device.fd)
  if (fault === 'silent') return
  for (const request = Buffer.alloc(1024 * 1024); ;) {
    await device.read(request)
    const kind = request.readUInt32LE(4)
    if (kind === forget || kind === batchForget) continue
    const body = kind === init ? versionAnswer() : Buffer.alloc(0)
    const head = Buffer.alloc(16)
    head.writeUInt32LE(head.length + body.length, 0)
    head.writeInt32LE(kind === init ? 0 : -staleHandle, 4)
    request.copy(head, 8, 8, 16)
    await device.write(Buffer.concat([head, body]))
  }
}

/** `struct fuse_init_out` of version 7.31. */
function versionAnswer(): Buffer {
  const answer = Buffer.alloc(64)
  answer.writeUInt32LE(7, 0)
  answer.writeUInt32LE(31, 4)
  answer.writeUInt32LE(4_096, 20)
  return answer
}

if (argv[1] === import.meta.filename) await serve(argv[2] ?? '', argv[3] === 'silent' ? 'silent' : 'stale')
