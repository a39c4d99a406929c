import { callTimeouts, type EngineClient } from '../client/engine-client.ts'
import type { HomeContents } from '../../home-contents.ts'
import { RuntimeError } from '../../runtime-error.ts'
import { exists, readHome } from './docker-home-archive.ts'
import { HelperContainers } from './helper-containers.ts'

/** Contents of homes through containers that are never started, as backups read them (decision 046). */
export function homeContents(client: EngineClient, installation: string): HomeContents {
  const helpers = new HelperContainers(client, installation)
  return {
    read: (volume, signal) => readHome(client, helpers, volume, signal),
    add: async (volume, archive, signal) => {
      // The engine would create a volume that is gone, without labels.
      if (!(await exists(client, volume))) throw new RuntimeError('missing', `write to ${volume}: it is gone`)
      const helper = await helpers.create(volume)
      const query = { path: helper.folder, noOverwriteDirNonDir: '1' }
      const call = { what: `write to ${volume}`, method: 'PUT', path: helper.archivePath, query, signal } as const
      try {
        await client.ask({ ...call, archive, timeout: callTimeouts.writeHome, kind: 'stream' })
      } finally {
        await helper.remove()
      }
    },
  }
}
