/**
 * Part of `npm run test:release`: the commands of docs/tutorial/class-of-thirty.md, as they stand there, on a bare Debian 12. Three
 * things are others: the name is in /etc/hosts, Caddy makes the certificate itself, and there is no mail server.
 */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { test } from 'node:test'
import { script, startMachine } from './debian-machine.mjs'

const repository = resolve(import.meta.dirname, '../../..')
const host = 'berth.example.org'
/** Headings from the first to the one after the last that is run. */
const steps = { first: '## 1. Install', end: '## 7. Invite the class' }
const tenMinutes = 600_000

/** The shell commands of the tutorial, by the headings that they are below. @returns {[string, string][]} */
function commands() {
  const text = readFileSync(join(repository, 'docs/tutorial/class-of-thirty.md'), 'utf8')
  const [begin, end] = [text.indexOf(steps.first), text.indexOf(steps.end)]
  assert.ok(begin > 0 && end > begin)
  return text
    .slice(begin, end)
    .split(/^## /m)
    .flatMap((section) =>
      [...section.matchAll(/^```sh\n([^]*?)^```$/gm)].map(
        ([, command = '']) => /** @type {[string, string]} */ ([section.split('\n')[0] ?? '', command]),
      ),
    )
}

test('a bare Debian has its first container over https within ten minutes, by the commands of the tutorial', async (t) => {
  const dist = join(repository, 'dist')
  const deb = readdirSync(dist).find((each) => each.endsWith('_amd64.deb'))
  if (deb === undefined) throw new Error('dist/ has no package: npm run release')
  const machine = await startMachine(t, 'bare')
  machine.copyIn(join(dist, deb), `/root/${deb}`)
  await machine.run(`echo '127.0.0.1 ${host}' >>/etc/hosts`)
  // The machine has no right to raise limits, which Debian's unit of Caddy does.
  await machine.run(
    `mkdir -p /etc/systemd/system/caddy.service.d && printf '[Service]\\nLimitNOFILE=\\nLimitNPROC=\\n' >/etc/systemd/system/caddy.service.d/limits.conf`,
  )
  const all = commands()
  assert.ok(all.length >= 6, `${all.length} commands`)
  const start = performance.now()
  for (const [heading, command] of all) {
    const begin = performance.now()
    const changed = command
      .replace(/berth_\S+_amd64\.deb/, basename(deb))
      .replace(/^SMTP_URL=.*\nMAIL_FROM=.*\n/m, '')
      .replace(/^(berth\.example\.org \{)$/m, '$1\n  tls internal')
    const quiet = `set -e; cd /root; export DEBIAN_FRONTEND=noninteractive; ${changed}`
    await machine.run(quiet, { limitMs: 400_000 })
    t.diagnostic(`${heading}: ${((performance.now() - begin) / 1000).toFixed(1)} s`)
  }
  const trust = 'NODE_EXTRA_CA_CERTS=/var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt'
  const job = `${trust} /usr/lib/berth/node --input-type=module - https://${host} /var/lib/berth teacher lesson`
  await machine.run(job, { input: script('invited-user.mjs') })
  const took = performance.now() - start
  t.diagnostic(`tutorial: bare Debian to the first container over https: ${(took / 1000).toFixed(0)} s of commands`)
  assert.ok(took < tenMinutes)
  assert.match(await machine.run('iptables-save'), /-A INPUT -j BERTH-INPUT/)
})
