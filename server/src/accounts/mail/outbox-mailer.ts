import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Logger } from 'pino'
import type { Mailer, Email } from './mailer.ts'
import { lazyTransport } from './mail-transport.ts'

/**
 * Outbox of an installation without a mail server: each mail is written as an `.eml` file, and its link is logged, so
 * that the operator can open it. The only place where a link is ever logged; never used when SMTP is set.
 * @param folder created when missing, readable by its owner only
 * @param log of any level; one that is `silent` stays so, as that of commands
 */
export function createOutbox(folder: string, from: string, log: Logger): Mailer {
  // There is no other way in, so `LOG_LEVEL=warn` does not leave the links out.
  const linkLog = log.level === 'silent' ? log : log.child({}, { level: 'info' })
  const transport = lazyTransport({ streamTransport: true, buffer: true })
  return {
    async send(email) {
      const { message: eml } = await transport.sendMail({ ...email, from, to: { name: '', address: email.to } })
      const file = await write(folder, eml as Buffer)
      linkLog.info({ file, link: linkIn(email) }, `mail for ${email.to}`)
    },
    close: () => transport.close(),
  }
}

/** Renamed to its final name when it is complete: another program may watch the folder. */
async function write(folder: string, eml: Buffer): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const name = `${new Date().toISOString().replaceAll(':', '-')}-${randomUUID().slice(0, 8)}`
  const [temporary, file] = [path.join(folder, `.${name}`), path.join(folder, `${name}.eml`)]
  try {
    await writeFile(temporary, eml, { mode: 0o600 })
    await rename(temporary, file)
  } catch (error) {
    // On a full disk the incomplete file would take the space that the next mail needs.
    await rm(temporary, { force: true })
    throw error
  }
  return file
}

const linkIn = ({ text }: Email) => /https?:\/\/\S+/.exec(text)?.[0]
