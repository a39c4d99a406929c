import { rmSync } from 'node:fs'
import path from 'node:path'
import { collect, defineCommand } from '#/command.ts'
import type { CommandContext } from '#/with-api.ts'
import { CommandFailed, WrongUsage } from '#/command-failure.ts'
import type { Manifest } from '#/backup/backup-format.ts'
import { noteBackup } from '#/backup/create-backup.ts'
import { formatCount } from '#/terminal.ts'
import { formatBytes } from '@berth/texts/localized-message.ts'
import { defaultLanguage } from '@berth/texts/language.ts'
import { localize } from '@berth/texts/localize.ts'
import { inWords, requireHelperImage, requireSettings, requireStoreOwner, version } from './store-access.ts'

/** `berth backup`. */
export const backup = defineCommand({
  description: 'back up store, keys and homes',
  usage: (command) =>
    command
      .argument('[folder]', 'folder of all backups, or - for a tar archive on standard output')
      .option('--encrypt-to <key>', 'public key of age (age1...); may be given several times', collect, [])
      .option(
        '--keep <number>',
        'backups of this installation to keep in the folder; the oldest others are removed. Those without homes count apart',
      )
      .option('--no-homes', 'without the homes of users')
      .option('--public-key', 'print the public key of the signatures of backups, and make no backup'),
  effect:
    'Berth and all containers keep running; no request waits for it. A backup has its name when it is complete, and ' +
    'no half backup stays. It is signed with a key of this installation, which is made at the first one and is in no backup. Homes that did not change since the last backup in the folder take no further space. ' +
    'berth.env and files of templates and secrets are yours and not in it. Exit code 1 if a home could not be read, or would take the last 5 % of ' +
    'the disk that it is written to (at most 1 GiB).',
  examples: [
    ['backup /var/backups/berth --keep 14', 'every night, from a timer'],
    ['backup /var/backups/berth --encrypt-to age1...', 'this machine can write backups and cannot read them'],
    ['backup --public-key', 'what a restore on another machine needs; keep it elsewhere'],
    ['backup - --encrypt-to age1... | ssh backup@example.org "cat > berth.tar"', 'to another machine'],
  ],
  work: async (context, folder, options) => {
    if (options.publicKey) return printPublicKey(context)
    if (folder === undefined) throw new WrongUsage('Name the folder of all backups, or - for standard output.')
    const keep = readKeep(options.keep)
    const isStream = folder === '-'
    if (isStream && process.stdout.isTTY) throw new WrongUsage('Standard output is a terminal; send it to a file.')
    if (isStream && keep !== null) throw new WrongUsage('--keep needs a folder.')
    const config = requireSettings(context)
    requireStoreOwner(config)
    if (options.homes) requireHelperImage(config)
    const began = performance.now()
    // Loaded here, because loading them would slow every other command.
    const [{ createBackup, spoolStore, makeSpoolFolder }, { encryptor }, { backupSigner }, adapters] =
      await Promise.all([
        import('#/backup/create-backup.ts'),
        import('#/backup/backup-format.ts'),
        import('#/backup/backup-signature.ts'),
        import('@berth/server/start/adapters.ts'),
      ])
    const encrypt = await encryptor(options.encryptTo)
    const spool = makeSpoolFolder(config.dataDir)
    try {
      const work = {
        databaseUrl: config.databaseUrl,
        dataDir: config.dataDir,
        spool,
        version: version(),
        recipients: options.encryptTo,
        homesOf: options.homes ? (installation: string) => adapters.homeArchiveFor(config, installation) : null,
        onProgress: (done: number, total: number) => context.terminal.progress(`home ${done + 1} of ${total}`),
        signal: context.signal,
      }
      const snapshot = await spoolStore(work)
      if (snapshot.installation === null) throw new CommandFailed('No Berth was ever started on this store.')
      const { installation } = snapshot
      const place = path.resolve(context.folder, folder)
      const { folderTarget, streamTarget, pruneBackups } = await import('#/backup/backup-target.ts')
      const signer = await backupSigner(config.dataDir, config.node?.secret)
      const target = isStream
        ? streamTarget(process.stdout, spool, { encrypt, signer })
        : await folderTarget(place, installation, { recipients: options.encryptTo, encrypt, signer })
      const { name, manifest } = await createBackup(target, { ...snapshot, installation }, work)
      noteBackup(config.dataDir, {
        at: manifest.createdAt,
        folder: isStream ? null : name,
        missing: manifest.missing.length,
        homes: options.homes,
      })
      const removed = keep === null ? [] : await pruneBackups(place, installation, keep, name)
      const seconds = (performance.now() - began) / 1_000
      report(context, { name, manifest, signedBy: signer.publicKey, removed, isStream, seconds })
    } catch (error) {
      throw inWords(error)
    } finally {
      rmSync(spool, { recursive: true, force: true })
    }
  },
})

/** Makes the key when there is none, so that its public part can be noted before the first backup. */
async function printPublicKey(context: CommandContext): Promise<void> {
  const config = requireSettings(context)
  requireStoreOwner(config)
  const { backupSigner } = await import('#/backup/backup-signature.ts')
  try {
    const { publicKey } = await backupSigner(config.dataDir, config.node?.secret)
    context.terminal.json({ publicKey })
    context.terminal.print(publicKey)
  } catch (error) {
    throw inWords(error)
  }
}

interface Made {
  readonly name: string
  readonly manifest: Manifest
  readonly signedBy: string
  readonly removed: readonly string[]
  readonly isStream: boolean
  readonly seconds: number
}

/** Standard output is the backup itself if it goes there. */
function report({ terminal }: CommandContext, { name, manifest, signedBy, removed, isStream, seconds }: Made): void {
  const { parts, missing, store } = manifest
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
  const homes = parts.filter(({ kind }) => kind === 'home').length
  terminal.endProgress()
  const words =
    `Backup made: ${name}, ${formatCount(store.rows.users ?? 0, 'user')}, ${formatCount(homes, 'home')}, ` +
    `${localize(defaultLanguage, formatBytes(bytes))}, ` +
    `in ${seconds.toFixed(1)} s${removed.length === 0 ? '' : `; ${removed.length} old removed`}`
  const signature = `Signed by ${signedBy}: a restore on another machine needs this key.`
  if (isStream) {
    terminal.note(words)
    terminal.note(signature)
  } else {
    terminal.json({ backup: name, signedBy, seconds, bytes, homes, missing, removed })
    terminal.print(words)
    terminal.print(signature)
  }
  for (const { volume, reason } of missing) terminal.note(`not in the backup: ${volume}: ${reason}`)
  if (missing.length > 0) throw new CommandFailed(`${missing.length} homes are not in the backup; the rest is.`)
}

function readKeep(text: string | undefined): number | null {
  if (text === undefined) return null
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new WrongUsage('--keep must be a whole number from 1 to 9999.')
  return Number(text)
}
