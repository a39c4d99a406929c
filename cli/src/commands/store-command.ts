import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { defineCommand, type CommandGroup } from '#/command.ts'
import type { CommandContext } from '#/with-api.ts'
import { CommandFailed } from '#/command-failure.ts'
import { lockDatabase, storeLocationOf } from '#/lock-database.ts'
import { readSecretFile } from '@berth/server/machine/secret-file.ts'
import { inWords, requireSettings, requireStopped, requireStoreOwner } from './store-access.ts'

/** `berth store ...`. */
export const storeCommands: CommandGroup = {
  description: 'the database: copy it to the other kind',
  commands: () => ({ copy }),
}

const copy = defineCommand({
  description: 'copy the store from SQLite to PostgreSQL or back',
  usage: (command) =>
    command.requiredOption(
      '--to <target>',
      'sqlite (in DATA_DIR), an address postgres://..., or a file that holds the address',
    ),
  effect:
    'Stop Berth first. The store of the settings is only read. The target must be empty; it gets everything in one ' +
    'transaction, and is then compared by counts and hashes of all tables. Then change DATABASE_URL and start Berth. ' +
    'An address with a password on the command line is seen by other accounts of the machine: use a file.',
  examples: [
    ['store copy --to /etc/berth/database-url', 'from SQLite to PostgreSQL'],
    ['store copy --to sqlite', 'from the PostgreSQL of DATABASE_URL back to SQLite'],
  ],
  work: async (context, { to }) => {
    const { terminal } = context
    const config = requireSettings(context)
    requireStoreOwner(config)
    await requireStopped(context)
    const from = storeLocationOf(config)
    const target = to === 'sqlite' ? { folder: config.dataDir } : { url: addressIn(context, to) }
    if ('folder' in from && 'folder' in target) throw new CommandFailed('The store is in SQLite already.')
    mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
    const locks = [await lockDatabase(from), await lockDatabase(target)]
    const { copyStore } = await import('@berth/server/store/open/copy-store.ts')
    const summary = await copyStore(from, target)
      .catch((error: unknown) => {
        throw inWords(error)
      })
      .finally(() => Promise.all(locks.map((lock) => lock.release())))
    terminal.json({ copied: summary })
    const rows = Object.entries(summary).map(([table, { rows: count, sha256 }]) => [
      table,
      String(count),
      sha256.slice(0, 16),
    ])
    terminal.table(['TABLE', 'ROWS', 'SHA-256 OF BOTH'], rows)
    terminal.print(
      to === 'sqlite' ? 'Remove DATABASE_URL and start Berth.' : 'Set DATABASE_URL to the target and start Berth.',
    )
  },
})

function addressIn({ folder }: CommandContext, to: string): string {
  if (/^postgres(ql)?:\/\//.test(to)) return to
  const read = readSecretFile(path.resolve(folder, to))
  if ('problem' in read) throw new CommandFailed(`--to: ${read.problem}`)
  if (!/^postgres(ql)?:\/\//.test(read.value)) throw new CommandFailed(`--to: ${to} holds no address postgres://...`)
  return read.value
}
