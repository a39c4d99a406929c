import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../free-port.ts'

const run = promisify(execFile)

/** Debian's folders of programs are not in the path of every account. */
const programs = ['/usr/sbin/postfix', '/usr/sbin/postconf', '/usr/bin/openssl']

/** Options of a test that needs Postfix, which only root starts. */
export const withPostfix = {
  skip:
    process.getuid?.() !== 0
      ? 'Postfix is started by root only'
      : !programs.every((file) => existsSync(file)) && 'Postfix is not installed (apt-get install postfix openssl)',
}

export interface Postfix {
  /** `smtp://127.0.0.1:port` */
  readonly url: string
  /** What it logged so far. */
  log(): Promise<string>
  stop(): Promise<void>
}

/**
 * A Postfix of our own as a relay on the loopback address, that offers STARTTLS with a certificate it made itself, as Debian's does, and
 * discards what it accepts. It refuses clients that introduce themselves by an address, as strict relays do.
 * @throws when it does not start
 */
export async function startPostfix(): Promise<Postfix> {
  const folder = await mkdtemp(path.join(tmpdir(), 'berth-postfix-'))
  // Its processes run as `postfix`.
  await chmod(folder, 0o755)
  const inFolder = (name: string) => path.join(folder, name)
  for (const name of ['conf', 'queue', 'data']) await mkdir(inFolder(name))
  await run('chown', ['postfix', inFolder('data')])
  const certificate = ['-keyout', inFolder('key.pem'), '-out', inFolder('cert.pem'), '-subj', '/CN=debian']
  await run('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...certificate])
  const port = await freePort()
  await writeFile(inFolder('helo'), '/^\\[/ 550 5.7.1 a host name is wanted\n')
  await writeFile(inFolder('conf/main.cf'), mainSettings(folder))
  const services = await readFile('/usr/share/postfix/master.cf.dist', 'utf8')
  await writeFile(inFolder('conf/master.cf'), services.replace(/^smtp(\s+inet.*)$/m, `127.0.0.1:${port}$1`))
  const command = (verb: string) => run('/usr/sbin/postfix', ['-c', inFolder('conf'), verb])
  await command('start')
  return {
    url: `smtp://127.0.0.1:${port}`,
    log: () => readFile(inFolder('log'), 'utf8'),
    stop: async () => {
      await command('stop')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const mainSettings = (folder: string) => `compatibility_level = 3.6
queue_directory = ${folder}/queue
data_directory = ${folder}/data
maillog_file = ${folder}/log
maillog_file_prefixes = ${folder}
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
myhostname = relay.example.org
mydestination =
mynetworks = 127.0.0.0/8
default_transport = discard:
smtpd_tls_security_level = may
smtpd_tls_loglevel = 1
smtpd_tls_cert_file = ${folder}/cert.pem
smtpd_tls_key_file = ${folder}/key.pem
smtpd_helo_required = yes
smtpd_delay_reject = no
smtpd_helo_restrictions = check_helo_access regexp:${folder}/helo
`
