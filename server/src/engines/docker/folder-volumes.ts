import { createTarPacker } from 'modern-tar'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { callTimeouts, isValidName, statusOf } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'
import { HelperContainers } from './helper-containers.ts'
import { folderLabels, isOfInstallation } from './labels.ts'

interface Volume {
  readonly Labels: Readonly<Record<string, string>> | null
}

/** Every account writes to it where it is mounted writable: images run their programs as different ones. */
const mode = 0o777

/**
 * Makes sure of a volume that containers of several people have. One that exists is left as it is.
 * @throws {RuntimeError} `conflict` when it belongs to another installation
 */
export async function ensureFolder(engine: EngineContext, volume: string): Promise<void> {
  const { client, installation } = engine
  const what = `make the folder ${volume}`
  if (!isValidName(volume)) throw new RuntimeError('failed', `${what}: the engine accepts no such name`)
  const found = await readVolume(engine, volume)
  if (found) {
    if (isOfInstallation(found.Labels, installation)) return
    throw new RuntimeError('conflict', `${what}: a volume of this name is not of this installation`)
  }
  const body = { Name: volume, Labels: folderLabels(installation) }
  await client.ask({ what, method: 'POST', path: '/volumes/create', body, timeout: callTimeouts.read })
  try {
    await openToAll(engine, volume)
  } catch (error) {
    // One that exists counts as open.
    await removeFolder(engine, volume).catch(() => undefined)
    throw error
  }
}

async function openToAll({ client, installation }: EngineContext, volume: string): Promise<void> {
  const helper = await new HelperContainers(client, installation).create(volume)
  try {
    // The engine leaves the owner and the mode of the folder that it unpacks into alone.
    const { readable, controller } = createTarPacker()
    void controller
      .add({ name: `${helper.folder.slice(1)}/`, size: 0, type: 'directory', mode, uid: 0, gid: 0 })
      .close()
      .then(() => controller.finalize())
    const [what, query] = [`open the folder ${volume}`, { path: '/' }]
    const call = { what, method: 'PUT', path: helper.archivePath, query, archive: readable } as const
    await client.ask({ ...call, timeout: callTimeouts.writeHome, kind: 'stream' })
  } finally {
    await helper.remove()
  }
}

/** Nothing to do when it is gone or another installation's. @throws {RuntimeError} `conflict` when a container has it */
export async function removeFolder(engine: EngineContext, volume: string): Promise<void> {
  const found = await readVolume(engine, volume)
  if (!found || !isOfInstallation(found.Labels, engine.installation)) return
  const call = { what: `remove ${volume}`, method: 'DELETE', path: `/volumes/${encodeURIComponent(volume)}` } as const
  try {
    await engine.client.ask({ ...call, timeout: callTimeouts.remove })
  } catch (error) {
    if (statusOf(error) !== 404) throw error
  }
}

async function readVolume({ client }: EngineContext, volume: string): Promise<Volume | undefined> {
  const call = { what: `inspect ${volume}`, method: 'GET', path: `/volumes/${encodeURIComponent(volume)}` } as const
  try {
    return await client.ask<Volume>({ ...call, timeout: callTimeouts.read })
  } catch (error) {
    if (statusOf(error) === 404) return undefined
    throw error
  }
}
