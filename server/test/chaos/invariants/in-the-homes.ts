import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { Readable } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import { createTarDecoder } from 'modern-tar'
import { filesOfHome } from '../world/templates.ts'
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

/** Soon: a home, and each folder that was restored into it, is there as a whole or not at all, and no restore is left over. */
export async function hasWholeHomes({ engine, settings }: World): Promise<string[]> {
  const journal = path.join(settings.folder, 'data', 'snapshots', 'restoring')
  const left = existsSync(journal) ? readdirSync(journal).map((name) => `the restore ${name} is left over`) : []
  const looks = (await engine.homes()).map(async (volume) => {
    const archive = await engine.readHome(volume)
    const names = archive && (await namesIn(archive))
    if (!names?.has('canary')) return []
    const restored = [...new Set([...names].map((name) => /^(restored-[^/]+\/)/.exec(name)?.[1] ?? ''))]
    return restored.filter((folder) => !isWhole(names, folder)).map((folder) => `${volume}/${folder} is not whole`)
  })
  return [...left, ...(await Promise.all(looks)).flat()]
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
