import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { defineCommand } from '#/command.ts'
import type { CommandContext } from '#/with-api.ts'
import type { Manifest } from '#/backup/backup-format.ts'
import type { RestoreOptions as CompleteRestore } from '#/backup/restore-backup.ts'
import { CommandFailed, WrongUsage } from '#/command-failure.ts'
import { formatCount, type Terminal } from '#/terminal.ts'
import { lockDatabase, storeLocationOf } from '#/lock-database.ts'
import {
  inWords,
  requireOwner,
  requireHelperImage,
  nodeSecretOf,
  requireSettings,
  requireStopped,
} from './store-access.ts'

/** `berth restore`. */
export const restore = defineCommand({
  description: 'restore a backup, check it, or take one home out of it',
  usage: (command) =>
    command
      .argument('<backup>', 'folder of one backup: berth-20261122T020000Z')
      .option('--identity <file>', 'secret key of age, for an encrypted backup')
      .option(
        '--signed-by <key>',
        'public key of the installation that made it (berth backup --public-key), if not this one',
      )
      .option('--accept-unsigned', 'accept a backup without a signature, as earlier versions made them')
      .option('--force', 'move a store that is there aside')
      .option('--no-homes', 'without the homes of users')
      .option('--check', 'check every file of the backup, and change nothing')
      .option('--home <slug>', 'only the home of this user, into the folder of --into')
      .option('--type <type>', 'with --home: type of its container, if the user has several')
      .option('--into <folder>', 'with --home: new folder for the files'),
  effect:
    'Stop Berth first. Everything is checked before anything is changed. A backup that this installation has not signed, or that was ' +
    'changed, is refused: --signed-by names the key of another one. Homes that exist are left as they are. A ' +
    'store that is there is only replaced with --force, and kept beside. With --home or --check Berth may run, ' +
    'and nothing of it changes.',
  examples: [
    ['restore /var/backups/berth/berth-20261122T020000Z', 'onto an empty machine'],
    ['restore berth-20261122T020000Z --home ann --into /tmp/ann', "Ann's files, beside the present ones"],
    ['restore berth-20261122T020000Z --check --identity key.txt', 'would it be restored?'],
  ],
  work: async (context, backup, options) => {
    if ((options.home === undefined) !== (options.into === undefined)) throw new WrongUsage('--home needs --into.')
    const folder = path.resolve(context.folder, backup)
    try {
      const { decryptor } = await import('#/backup/backup-format.ts')
      const decrypt = options.identity === undefined ? null : await decryptor(identityIn(context, options.identity))
      const source = { backup: folder, decrypt, trust: await trustOf(context, options) }
      if (options.check) await check(context, source)
      else if (options.home !== undefined) await takeHome(context, source, options)
      else await restoreAll(context, source, options)
    } catch (error) {
      throw inWords(error)
    }
  },
})

interface RestoreOptions {
  readonly identity?: string
  readonly signedBy?: string
  readonly acceptUnsigned?: true
  readonly force?: boolean
  readonly homes: boolean
  readonly check?: true
  readonly home?: string
  readonly type?: string
  readonly into?: string
}

/** The backup, and what the operator says of it. */
type Source = Pick<CompleteRestore, 'backup' | 'decrypt' | 'trust'>

/** The key of this installation is accepted by itself, unless another one is named. */
async function trustOf({ env, dataDir }: CommandContext, options: RestoreOptions): Promise<Source['trust']> {
  const { ownPublicKeys, parsePublicKey } = await import('#/backup/backup-signature.ts')
  const { signedBy, acceptUnsigned = false } = options
  if (signedBy === undefined) return { keys: await ownPublicKeys(dataDir, nodeSecretOf(env)), acceptUnsigned }
  parsePublicKey(signedBy)
  return { keys: [signedBy], acceptUnsigned }
}

function identityIn({ folder }: CommandContext, file: string): string {
  try {
    return readFileSync(path.resolve(folder, file), 'utf8')
  } catch (error) {
    throw new CommandFailed(`The identity cannot be read: ${(error as Error).message}`)
  }
}

async function check({ terminal, signal }: CommandContext, { backup, decrypt, trust }: Source): Promise<void> {
  const [{ verifyParts }, { readSignedManifest }, { contentOf }] = await Promise.all([
    import('#/backup/backup-format.ts'),
    import('#/backup/backup-signature.ts'),
    import('#/backup/restore-backup.ts'),
  ])
  const manifest = await readSignedManifest(backup, trust)
  await verifyParts(backup, manifest.parts, signal)
  // Decrypts to the end, which checks the authentication of each block.
  for (const part of manifest.parts) for await (const _ of contentOf({ backup, decrypt }, part)) signal.throwIfAborted()
  terminal.json({ ok: true, manifest })
  terminal.print(`The backup of ${manifest.createdAt} is complete: ${manifest.parts.length} files.`)
  printSigner(terminal, manifest)
  noteWithoutHomes(terminal, manifest)
  for (const { volume, reason } of manifest.missing) terminal.note(`it was made without ${volume}: ${reason}`)
}

function printSigner(terminal: Terminal, { installation, signedBy }: Manifest): void {
  if (signedBy === undefined)
    terminal.note(`nothing proves that installation ${installation} made it: it is not signed`)
  else terminal.print(`Installation ${installation} made it, signed by ${signedBy}.`)
}

function noteWithoutHomes(terminal: Terminal, { homes }: Manifest): void {
  if (homes === false) terminal.note('it was made without the homes of users (--no-homes)')
}

async function takeHome(
  { terminal, folder, signal }: CommandContext,
  { backup, decrypt, trust }: Source,
  { home = '', type, into = '' }: RestoreOptions,
): Promise<void> {
  const [{ verifyParts }, { readSignedManifest }, { contentOf, extractHome, homePartOf }] = await Promise.all([
    import('#/backup/backup-format.ts'),
    import('#/backup/backup-signature.ts'),
    import('#/backup/restore-backup.ts'),
  ])
  const manifest = await readSignedManifest(backup, trust)
  const part = homePartOf(manifest, home, type ?? null)
  await verifyParts(backup, [part], signal)
  const place = path.resolve(folder, into)
  await extractHome(contentOf({ backup, decrypt }, part), place, signal)
  terminal.json({ home: part.home?.volume, folder: place, signedBy: manifest.signedBy ?? null })
  terminal.print(`The home is in ${place}.`)
}

async function restoreAll(
  context: CommandContext,
  source: Source,
  { force = false, homes }: RestoreOptions,
): Promise<void> {
  const { terminal, signal } = context
  const config = requireSettings(context)
  const { dataDir, databaseUrl } = config
  if (homes) requireHelperImage(config)
  await requireStopped(context)
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  requireOwner(dataDir)
  const [{ restoreBackup }, { makeSpoolFolder }, { homeArchiveFor }] = await Promise.all([
    import('#/backup/restore-backup.ts'),
    import('#/backup/create-backup.ts'),
    import('@berth/server/start/adapters.ts'),
  ])
  const lock = await lockDatabase(storeLocationOf(config))
  const spool = makeSpoolFolder(dataDir)
  try {
    const restored = await restoreBackup({
      ...source,
      databaseUrl,
      dataDir,
      force,
      spool,
      signal,
      requireStopped: () => requireStopped(context),
      homesOf: homes ? (installation) => homeArchiveFor(config, installation) : null,
      onProgress: (done, total) => terminal.progress(`home ${done + 1} of ${total}`),
    })
    terminal.endProgress()
    const { manifest, aside, ...outcomes } = restored
    const { keptHomes, partialHomes, missingHomes, unboundHomes } = outcomes
    terminal.json({ restored: manifest.createdAt, signedBy: manifest.signedBy ?? null, ...outcomes, aside })
    const users = manifest.store.rows.users ?? 0
    terminal.print(
      `Restored: the backup of ${manifest.createdAt}, ${users} users, ${restored.homes} homes.${missingHomes.length > 0 ? '' : ' Start Berth.'}`,
    )
    printSigner(terminal, manifest)
    if (aside !== null) terminal.print(`What was there before is in ${aside}.`)
    if (homes) noteWithoutHomes(terminal, manifest)
    for (const volume of unboundHomes) terminal.note(`without its home_size, which this engine cannot bind: ${volume}`)
    for (const volume of keptHomes) terminal.note(`left as it is, because it exists: ${volume}`)
    for (const volume of partialHomes)
      terminal.note(
        `left as it is, with a part of its files, because Berth ran after a restore was interrupted: ${volume}`,
      )
    for (const { volume, reason } of missingHomes) terminal.note(`not restored: ${volume}: ${reason}`)
    const problems = [
      ...(partialHomes.length > 0 ? [`${formatCount(partialHomes.length, 'home')} with a part of the files.`] : []),
      ...(missingHomes.length > 0
        ? [
            `${formatCount(missingHomes.length, 'home')} missing; the rest is restored. Mend the cause and restore again with --force before you start Berth: it writes these alone, while a launch would create them empty.`,
          ]
        : []),
    ]
    if (problems.length > 0)
      throw new CommandFailed(
        [
          ...problems,
          'Take them out of the backup with --home and --into, or remove volumes that have a part and restore again.',
        ].join(' '),
      )
  } finally {
    await lock.release()
    rmSync(spool, { recursive: true, force: true })
  }
}
