import { chmod, link, mkdir, open, readFile, rename, unlink, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** Key files: readable by their owner only, and never incomplete, even if the writing process dies. */

/**
 * The text of a file, which is created when it is missing. If another process creates it first, its text is returned.
 * @param make creates the text @throws when it cannot be read or created
 */
export async function createOnce(file: string, make: () => Promise<string>): Promise<string> {
  const text = (await readIfThere(file)) ?? (await create(file, await make()))
  await chmod(file, 0o600)
  // Left by a process that died while it wrote; no other process uses this path.
  await unlinkIfThere(asideOf(file))
  return text
}

/** Replaces a file; durable when it resolves. When it rejects, the file is unchanged. */
export async function replaceFile(file: string, text: string): Promise<void> {
  const aside = asideOf(file)
  await unlinkIfThere(aside)
  const handle = await open(aside, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(aside, file)
  await syncFolder(path.dirname(file))
}

const asideOf = (file: string) => `${file}.next`

async function create(file: string, text: string): Promise<string> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
  const aside = `${file}.${process.pid}`
  await writeFile(aside, text, { mode: 0o600, flush: true })
  try {
    await link(aside, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await unlink(aside)
  }
  return readFile(file, 'utf8')
}

/** The file's name is in the folder's own pages, which must be written to the disk as well. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  return unlessMissing(readFile(file, 'utf8'))
}

async function unlinkIfThere(file: string): Promise<void> {
  await unlessMissing(unlink(file))
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
