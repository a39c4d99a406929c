import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { archiveOf, askEngine, findBusybox } from './engine.ts'

/**
 * Imports a file system as an image, as `docker import` does: a web server on port 8080 with one page. An image that had the tag
 * loses it, and containers that were made from it keep it.
 * @param reference with a tag @returns the image's id, by which the test removes it @throws {Error} with the engine's words
 */
export async function importPage(reference: string, text: string): Promise<string> {
  const archive = await fileSystem(text)
  const [repo = '', tag = ''] = reference.split(':')
  const changes = 'CMD ["/bin/httpd","-f","-p","8080","-h","/srv"]'
  const query = { fromSrc: '-', repo, tag, changes: `EXPOSE 8080\n${changes}` }
  await askEngine('POST', '/images/create', { query, archive })
  const { Id } = await askEngine<{ Id: string }>('GET', `/images/${reference}/json`)
  return Id
}

async function fileSystem(text: string): Promise<Buffer> {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-import-'))
  try {
    for (const each of ['bin', 'srv', 'tmp']) mkdirSync(path.join(folder, each))
    copyFileSync(findBusybox(), path.join(folder, 'bin/busybox'))
    for (const program of ['httpd', 'sh']) symlinkSync('busybox', path.join(folder, 'bin', program))
    writeFileSync(path.join(folder, 'srv/index.html'), `${text}\n`)
    return await archiveOf(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
