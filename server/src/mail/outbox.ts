import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Logger } from 'pino'
import type { Mailer, Email } from './mailer.ts'
import { lazyTransport } from './lazy-transport.ts'

/**
 * For an installation without a mail server: each mail becomes an `.eml` file, and its link is printed, so that the
 * operator can open it. The only place where a link is ever logged; never used when SMTP is set.
 * @param folder made when missing, readable by its owner only
 */
export function createOutbox(folder: string, from: string, log: Pick<Logger, 'info'>): Mailer {
  const transport = lazyTransport({ streamTransport: true, buffer: true })
  return {
    async send(email) {
      const { message: eml } = await transport.sendMail({ ...email, from, to: { name: '', address: email.to } })
      const file = await write(folder, eml as Buffer)
      log.info({ file, link: linkIn(email) }, `mail for ${email.to}`)
    },
    close: () => transport.close(),
  }
}

/** Under its final name only when whole: somebody may be watching the folder. */
async function write(folder: string, eml: Buffer): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const name = `${new Date().toISOString().replaceAll(':', '-')}-${randomUUID().slice(0, 8)}`
  const [temporary, file] = [path.join(folder, `.${name}`), path.join(folder, `${name}.eml`)]
  try {
    await writeFile(temporary, eml, { mode: 0o600 })
    await rename(temporary, file)
  } catch (error) {
    // On a full disk the part that was written would take the room that the next mail needs.
    await rm(temporary, { force: true })
    throw error
  }
  return file
}

const linkIn = ({ text }: Email) => /https?:\/\/\S+/.exec(text)?.[0]
