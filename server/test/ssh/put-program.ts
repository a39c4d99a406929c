import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { archiveOf, askEngine } from '#test/support/engine/engine.ts'

/** A program of this machine. */
export interface Program {
  readonly file: string
  /** Where the container has it: all names that it is started by. */
  readonly as: readonly string[]
}

/** Where git is on this machine, with the names by which a client starts it. @throws {Error} when it is not there */
export function findGit(): Program {
  const file = execFileSync('sh', ['-c', 'command -v git']).toString().trim()
  return { file, as: ['git', 'git-upload-pack', 'git-receive-pack'].map((name) => `/usr/bin/${name}`) }
}

/** Debian's Perl, which is on each of its machines. */
export const findPerl = (): Program => ({ file: '/usr/bin/perl', as: ['/usr/bin/perl'] })

/**
 * Puts programs of this machine into a container, with the libraries that they are linked with, as an image would have them.
 * @param container id or name
 * @param options `libraries`: a folder to look for libraries in, before those of the machine; `texts`: further files
 */
export async function putPrograms(
  container: string,
  programs: readonly Program[],
  { libraries, texts = {} }: { libraries?: string; texts?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-program-'))
  // Its mode is that of the container's own root folder afterwards.
  chmodSync(folder, 0o755)
  const put = (file: string, as: string) => {
    mkdirSync(path.dirname(path.join(folder, as)), { recursive: true })
    cpSync(realpathSync(file), path.join(folder, as))
  }
  try {
    const env = { ...process.env, ...(libraries !== undefined && { LD_LIBRARY_PATH: libraries }) }
    for (const { file, as } of programs) {
      for (const each of as) put(file, each)
      const linked = execFileSync('ldd', [file], { env }).toString().match(/\/\S+/g) ?? []
      for (const library of linked.filter((each) => !each.endsWith(':')))
        put(
          library,
          libraries !== undefined && library.startsWith(libraries) ? `/usr/lib/${path.basename(library)}` : library,
        )
    }
    for (const [as, text] of Object.entries(texts)) {
      mkdirSync(path.dirname(path.join(folder, as)), { recursive: true })
      writeFileSync(path.join(folder, as), text, { mode: 0o644 })
    }
    await askEngine('PUT', `/containers/${container}/archive`, {
      query: { path: '/' },
      archive: await archiveOf(folder),
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
