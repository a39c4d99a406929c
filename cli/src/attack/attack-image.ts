import { createReadStream, existsSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'

/** Path of the hostile program in the image. */
const programInImage = '/attack/hostile-app.ts'

/** Runs it in a container. */
export const hostileCommand: readonly string[] = ['/attack/node', programInImage]

/** Bytes of a block of a tar archive. */
const block = 512

/**
 * A root file system from files of this machine, as a tar archive: this Node with its libraries, `sleep` if there is one,
 * and the hostile program. So the attack needs no registry.
 */
export async function* attackImage(): AsyncGenerator<Uint8Array> {
  const program = path.join(import.meta.dirname, 'hostile-app.ts')
  const files: [source: string, target: string][] = [
    [process.execPath, '/attack/node'],
    [program, programInImage],
    ...librariesOfNode().map((file): [string, string] => [file, file]),
    ...['/bin/sleep', '/usr/bin/sleep']
      .filter((file) => existsSync(file))
      .slice(0, 1)
      .map((file): [string, string] => [file, '/attack/sleep']),
  ]
  for (const folder of foldersOf(files)) yield headerOf(`${folder.slice(1)}/`, 0, 0o755, '5')
  for (const folder of ['tmp/', 'home/']) yield headerOf(folder, 0, 0o1777, '5')
  for (const [source, target] of files) {
    const { size } = statSync(source)
    yield headerOf(target.slice(1), size, 0o755, '0')
    yield* createReadStream(realpathSync(source)) as AsyncIterable<Uint8Array>
    yield Buffer.alloc((block - (size % block)) % block)
  }
  yield Buffer.alloc(2 * block)
}

/** Files that the loader opened for this very process; the kernel's own (vdso) has no path. */
function librariesOfNode(): string[] {
  const { sharedObjects } = process.report.getReport() as unknown as { sharedObjects: string[] }
  return sharedObjects.filter((file) => file.startsWith('/') && !file.endsWith('.node') && existsSync(file))
}

/** Parents first; `tmp` and `home` come with their own modes. */
function foldersOf(files: readonly (readonly [string, string])[]): string[] {
  const found = new Set<string>()
  for (const [, target] of files)
    for (let folder = path.dirname(target); folder !== '/'; folder = path.dirname(folder)) found.add(folder)
  return [...found].sort()
}

/** Header of a file or folder. Source: POSIX.1-2017, pax, "ustar Interchange Format". */
function headerOf(name: string, size: number, mode: number, kind: '0' | '5'): Buffer {
  if (name.length > 100) throw new Error(`the path ${name} is too long for the image of the attack`)
  const header = Buffer.alloc(block)
  const octal = (number: number, length: number) => `${number.toString(8).padStart(length - 1, '0')}\0`
  header.write(name, 0)
  header.write(octal(mode, 8), 100)
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(size, 12), 124)
  header.write(octal(0, 12), 136)
  header.write('        ', 148)
  header.write(kind, 156)
  header.write('ustar\u000000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}
