import { createTarPacker, type TarPackController } from 'modern-tar'
import type { FileEntry, FileSet } from '#/templates/starter-files/file-set.ts'
import { readDockerignore } from './dockerignore.ts'

/** Where the Dockerfile is in a context: a name that no file of a repository has by chance. */
export const dockerfilePath = '.berth.Dockerfile'
const ignoreFile = '.dockerignore'

/**
 * A tar archive of the Dockerfile and of files that it may copy.
 * @param files of a repository; undefined: none @param folder of it that is the context, without a slash at its ends
 * @throws {DockerfileProblem} when comparing paths with its `.dockerignore` takes too long; the signal's reason
 */
export async function buildContext(
  dockerfile: string,
  files: FileSet | undefined,
  folder: string,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const copied = await copiedOf(files, folder === '' ? '' : `${folder}/`, signal)
  const { readable, controller } = createTarPacker()
  pack(controller, dockerfile, copied, files).catch((error: unknown) => controller.error(error))
  return readable
}

/** A file of the repository, and its name in the context. */
interface Copied {
  readonly entry: FileEntry
  readonly name: string
}

async function copiedOf(files: FileSet | undefined, prefix: string, signal: AbortSignal): Promise<Copied[]> {
  const isIgnored = await ignoreRule(files, prefix)
  const copied: Copied[] = []
  for (const entry of files?.entries ?? []) {
    signal.throwIfAborted()
    const name = entry.path.slice(prefix.length)
    if (!entry.path.startsWith(prefix) || name === dockerfilePath || name === ignoreFile) continue
    if (!(await isIgnored(name))) copied.push({ entry, name })
  }
  return copied
}

async function pack(
  controller: TarPackController,
  dockerfile: string,
  copied: readonly Copied[],
  files: FileSet | undefined,
): Promise<void> {
  for (const { entry, name } of copied) {
    const common = { mode: entry.mode, mtime: entry.mtime, uid: 0, gid: 0 }
    if (entry.kind === 'folder') await add(controller, { ...common, name: `${name}/`, type: 'directory', size: 0 })
    else if (entry.kind === 'link')
      await add(controller, { ...common, name, type: 'symlink', size: 0, linkname: entry.target })
    else await add(controller, { ...common, name, type: 'file', size: entry.size }, files?.read(entry))
  }
  // The engine takes these two out of the context before the first step, so that no `COPY .` has them.
  const ignore = `${dockerfilePath}\n${ignoreFile}\n`
  for (const [name, text] of [
    [ignoreFile, ignore],
    [dockerfilePath, dockerfile],
  ] as const) {
    const bytes = Buffer.from(text)
    const header = { name, type: 'file', mode: 0o644, mtime: new Date(0), uid: 0, gid: 0, size: bytes.length } as const
    await add(controller, header, [bytes])
  }
  controller.finalize()
}

/** Bytes of a `.dockerignore`. */
const maxIgnoreFile = 65_536

/** What the `.dockerignore` of the context leaves out: a client of the engine has to do that itself. */
async function ignoreRule(
  files: FileSet | undefined,
  prefix: string,
): Promise<(name: string) => boolean | Promise<boolean>> {
  const entry = files?.entries.find(({ path }) => path === `${prefix}${ignoreFile}`)
  if (!files || entry?.kind !== 'file' || entry.size > maxIgnoreFile) return () => false
  return readDockerignore(Buffer.concat(await Array.fromAsync(files.read(entry))).toString())
}

async function add(
  controller: TarPackController,
  header: Parameters<TarPackController['add']>[0],
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array> = [],
): Promise<void> {
  const writer = controller.add(header).getWriter()
  for await (const bytes of content) await writer.write(bytes)
  await writer.close()
}
