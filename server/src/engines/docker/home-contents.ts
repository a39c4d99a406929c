import { createTarPacker } from 'modern-tar'
import { callTimeouts, type EngineClient } from './engine-client.ts'
import type { HomeContents } from '#/engines/home-contents.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { withSendLimit } from '#/engines/transport/with-send-limit.ts'
import { exists, readHome } from './docker-home-archive.ts'
import { HelperContainers } from './helper-containers.ts'

/** Contents of homes through containers that are never started, as backups read them (decision 046). */
export function homeContents(client: EngineClient, installation: string): HomeContents {
  const helpers = new HelperContainers(client, installation)
  /** @param replaces whether a file of the archive may take the place of a folder */
  const put = async (volume: string, archive: AsyncIterable<Uint8Array>, signal: AbortSignal, replaces: boolean) => {
    // The engine would create a volume that is gone, without labels.
    if (!(await exists(client, volume))) throw new RuntimeError('missing', `write to ${volume}: it is gone`)
    const helper = await helpers.create(volume)
    const query = { path: helper.folder, ...(replaces ? {} : { noOverwriteDirNonDir: '1' }) }
    const call = { what: `write to ${volume}`, method: 'PUT', path: helper.archivePath, query } as const
    const limit = callTimeouts.writeHomeStall
    const stalled = () =>
      new RuntimeError('failed', `write to ${volume}: the engine took nothing for ${limit / 1_000} s`)
    try {
      await withSendLimit(archive, { signal, limit, stalled }, (sent, both) =>
        client.ask({ ...call, archive: sent, signal: both, timeout: callTimeouts.writeHome, kind: 'stream' }),
      )
      await helper.requireMounted(call.what)
    } finally {
      await helper.remove()
    }
  }
  return {
    read: (volume, signal) => readHome(client, helpers, volume, signal),
    add: (volume, archive, signal) => put(volume, archive, signal, false),
    discard: (volume, folder, signal) => put(volume, emptyFile(folder), signal, true),
  }
}

/** An archive with one empty file. The engine removes a folder of this name with all that is in it before it makes the file. */
function emptyFile(name: string): AsyncIterable<Uint8Array> {
  const { readable, controller } = createTarPacker()
  void controller
    .add({ name, size: 0, type: 'file', mode: 0o644 })
    .close()
    .then(() => controller.finalize())
  return readable
}
