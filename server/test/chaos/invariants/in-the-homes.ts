import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { createTarDecoder } from 'modern-tar'
import { besideType, commonFile, filesOfHome, filesType } from '../world/templates.ts'
import type { World } from '../world/world.ts'

/** What has to be true of snapshots and of homes. Each returns what is wrong, in words. */

/** At every moment: a snapshot that is listed has the whole home. */
export async function listsWholeSnapshots({ settings }: World): Promise<string[]> {
  const folder = path.join(settings.folder, 'data', 'snapshots', 'homes')
  const volumes = existsSync(folder) ? readdirSync(folder) : []
  const files = volumes.flatMap((volume) =>
    readdirSync(path.join(folder, volume))
      .filter((name) => name.endsWith('.tar.gz'))
      .map((name) => path.join(folder, volume, name)),
  )
  const looks = files.map(async (file) => {
    try {
      const names = await namesIn(gunzipSync(readFileSync(file)))
      const missing = filesOfHome.filter((name) => !names.has(name))
      const isFine = !names.has('canary') || missing.length === 0
      return isFine ? [] : [`${file} lacks ${missing.join(', ')} and has ${names.size} others`]
    } catch (error) {
      // Removed since: three newest and one more are kept.
      return existsSync(file) ? [`${file} cannot be read: ${String(error)}`] : []
    }
  })
  return (await Promise.all(looks)).flat()
}

/**
 * Soon: a home, and each folder that was restored into it, is there as a whole or not at all, and no restore is left over. A home that two
 * containers write has every line of each of them once.
 */
export async function hasWholeHomes(world: World): Promise<string[]> {
  const { engine, settings } = world
  const journal = path.join(settings.folder, 'data', 'snapshots', 'restoring')
  const left = existsSync(journal) ? readdirSync(journal).map((name) => `the restore ${name} is left over`) : []
  const looks = (await engine.homes()).map(async (volume) => {
    const archive = await engine.readHome(volume)
    if (archive === undefined) return []
    const names = await namesIn(archive)
    if (!names.has('canary')) return []
    const lines = (await textOf(archive, commonFile)).split('\n').filter(Boolean)
    const wrong = linesAmiss(lines).map((words) => `${volume}: ${words}`)
    if (wrong.length === 0 && [filesType, besideType].every((type) => lines.includes(`${type} 1`))) world.commonHomes++
    const restored = [...new Set([...names].map((name) => /^(restored-[^/]+\/)/.exec(name)?.[1] ?? ''))]
    return [
      ...wrong,
      ...restored.filter((folder) => !isWhole(names, folder)).map((folder) => `${volume}/${folder} is not whole`),
    ]
  })
  return [...left, ...(await Promise.all(looks)).flat()]
}

/** Each type counts by itself; a line that is torn, lost or written twice is told. */
export function linesAmiss(lines: readonly string[]): string[] {
  const counts = new Map<string, number>()
  return lines.flatMap((line) => {
    const [type = '', number] = line.split(' ')
    const expected = (counts.get(type) ?? 0) + 1
    counts.set(type, expected)
    const isKnown = type === filesType || type === besideType
    return isKnown && number === String(expected) ? [] : [`"${line}" stands in place of line ${expected} of ${type}`]
  })
}

const isWhole = (names: ReadonlySet<string>, prefix: string) => filesOfHome.every((name) => names.has(prefix + name))

/** Files, without those that are empty. */
async function namesIn(archive: Buffer): Promise<Set<string>> {
  const names = new Set<string>()
  const bytes = Readable.toWeb(Readable.from([archive])) as ReadableStream<Uint8Array>
  for await (const { header, body } of bytes.pipeThrough(createTarDecoder({ strict: true }))) {
    await body.cancel()
    const name = header.name.replace(/^\.\//, '')
    names.add(header.type === 'file' && header.size === 0 ? `${name} (empty)` : name)
  }
  return names
}

/** Of a file in the top folder. */
async function textOf(archive: Buffer, file: string): Promise<string> {
  const bytes = Readable.toWeb(Readable.from([archive])) as ReadableStream<Uint8Array>
  for await (const { header, body } of bytes.pipeThrough(createTarDecoder({ strict: true })))
    if (header.name.replace(/^\.\//, '') === file) return text(body)
    else await body.cancel()
  return ''
}
