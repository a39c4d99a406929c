import { RuntimeError } from '#/engines/runtime-error.ts'
import { oneEntry } from '#/engines/tar/archive-rewrite.ts'
import { callTimeouts, isValidName } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'
import { findVolume, removeVolume } from './home-volumes.ts'
import { folderLabels, isOfInstallation } from './labels.ts'

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
  const found = await findVolume(client, volume)
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

async function openToAll({ client, helpers }: EngineContext, volume: string): Promise<void> {
  const helper = await helpers.create(volume, 'write')
  try {
    // The engine leaves the owner and the mode of the folder that it unpacks into alone.
    const archive = oneEntry({ name: `${helper.folder.slice(1)}/`, size: 0, type: 'directory', mode, uid: 0, gid: 0 })
    const [what, query] = [`open the folder ${volume}`, { path: '/' }]
    const call = { what, method: 'PUT', path: helper.archivePath, query, archive } as const
    await client.ask({ ...call, timeout: callTimeouts.writeHome, kind: 'stream' })
  } finally {
    await helper.remove()
  }
}

/** Nothing to do when it is gone or another installation's. @throws {RuntimeError} `conflict` when a container has it */
export async function removeFolder(engine: EngineContext, volume: string): Promise<void> {
  const found = await findVolume(engine.client, volume)
  if (found && isOfInstallation(found.Labels, engine.installation)) await removeVolume(engine.client, volume)
}
