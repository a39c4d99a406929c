/**
 * Part of `npm run test:release`: the commands of docs/how-to/move-to-another-machine.md between two machines with Debian 12, as they
 * stand there; rsync is replaced by tar through this machine. Then an encrypted backup is restored into an empty data folder.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { script, startMachine } from './debian-machine.mjs'

/** @import { Machine } from './debian-machine.mjs' */

const repository = resolve(import.meta.dirname, '../../..')
const base = 'http://127.0.0.1:8080'
const node = '/usr/lib/berth/node'
const lastBackup = '$(ls -d /var/backups/berth/berth-* | tail -n 1)'
const volume = '$(docker volume ls --quiet --filter label=berth.slug=ann)'
const note = `$(docker volume inspect --format '{{.Mountpoint}}' ${volume})/note.txt`
const fiveMinutes = 300_000

/** Commands of a numbered step of the page, with the machine that each is for. @param {number} step @returns {[string, string][]} */
function commandsOf(step) {
  const text = readFileSync(join(repository, 'docs/how-to/move-to-another-machine.md'), 'utf8')
  const section = text.split(/^(?=\d\. )/m).find((each) => each.startsWith(`${step}. `)) ?? ''
  return [...section.matchAll(/^ +(old|new)\$ (.*)$/gm)].map(([, machine = '', command = '']) => [machine, command])
}

/** @param {Machine} from @param {Machine} to @param {string} folder */
function copyFolder(from, to, folder) {
  const read = `docker exec ${from.id} tar --create --directory ${folder} .`
  const write = `docker exec --interactive ${to.id} sh -c 'mkdir -p ${folder} && tar --extract --same-owner --directory ${folder}'`
  execFileSync('sh', ['-c', `${read} | ${write}`], { stdio: 'ignore' })
}

/** @param {Record<string, Machine>} machines @param {number} step */
async function follow(machines, step) {
  const commands = commandsOf(step)
  assert.ok(commands.length > 0, `step ${step} has commands`)
  for (const [name, command] of commands) {
    const [, folder] = /^rsync .*? (\/\S+)\/ new:/.exec(command) ?? []
    if (folder !== undefined) copyFolder(machine(machines, 'old'), machine(machines, 'new'), folder)
    // What it finds is that this installation has no domain and no mail.
    else if (command === 'berth doctor') await machine(machines, name).run(`${command} || true`)
    else {
      const key = command.includes('ed25519:...') ? await machine(machines, 'old').run('berth backup --public-key') : ''
      const named = command.replace(/\/var\/backups\/berth\/berth-\w+/, lastBackup).replace('ed25519:...', key.trim())
      await machine(machines, name).run(named)
    }
  }
}

/** @param {Record<string, Machine>} machines @param {string} name */
const machine = (machines, name) => machines[name] ?? assert.fail(`there is no machine ${name}`)

test('Berth moves to another machine by the commands of the page, with sessions and homes as they were at last', async (t) => {
  const dist = join(repository, 'dist')
  const deb = readdirSync(dist).find((each) => each.endsWith('_amd64.deb'))
  if (deb === undefined) throw new Error('dist/ has no package: npm run release')
  const [from, to] = [await startMachine(t), await startMachine(t)]
  const machines = { old: from, new: to }
  for (const each of [from, to]) {
    each.copyIn(join(dist, deb), '/root/berth.deb')
    await each.run('dpkg --install /root/berth.deb')
  }
  const job = `${node} --input-type=module - ${base} /var/lib/berth ann@x.org signup`
  const { token } = JSON.parse(await from.run(job, { input: script('main-job.mjs') }))
  await from.run(`echo first >${note}`)
  await follow(machines, 1)
  await follow(machines, 2)
  await follow(machines, 3)
  await requireAnn(to, token, 'first')

  // What is written after the rehearsal moves, too.
  await from.run(`echo second >${note}`)
  const begun = performance.now()
  await follow(machines, 4)
  await requireAnn(to, token, 'second')
  const took = performance.now() - begun
  t.diagnostic(`move: Berth was away for ${(took / 1000).toFixed(0)} s`)
  assert.ok(took < fiveMinutes)

  const identity = await generateX25519Identity()
  const key = await identityToRecipient(identity)
  await to.run(`berth backup /var/backups/berth --encrypt-to ${key}`)
  assert.match(await to.run(`ls ${lastBackup}`), /berth\.sqlite\.age/)
  const signer = `--signed-by ${(await to.run('berth backup --public-key')).trim()}`
  await to.run('systemctl stop berth && docker rm --force $(docker ps --all --quiet --filter label=berth.instance)')
  await to.run(`docker volume rm ${volume} && find /var/lib/berth -mindepth 1 -delete`)
  const lost = performance.now()
  await to.run('install -m 0400 -o berth /dev/stdin /run/berth-backup.key', { input: identity })
  await assert.rejects(to.run(`berth restore ${lastBackup} --identity /run/berth-backup.key`), /signed by another key/)
  await assert.rejects(to.run(`berth restore ${lastBackup} ${signer}`), /identity/)
  await to.run(`berth restore ${lastBackup} ${signer} --identity /run/berth-backup.key && systemctl start berth`)
  await requireAnn(to, token, 'second')
  t.diagnostic(`drill: encrypted backup into an empty folder: ${((performance.now() - lost) / 1000).toFixed(0)} s`)
  assert.ok(performance.now() - lost < fiveMinutes)
})

/** She is signed in still, and her container has her home. @param {Machine} machine @param {string} token @param {string} words of her note */
async function requireAnn(machine, token, words) {
  const headers = JSON.stringify({ authorization: `Bearer ${token}` })
  const launch = `fetch("${base}/api/container/launch/dev", { method: "POST", headers: ${headers} })`
  const tried = `${node} --eval '${launch}.then((r) => process.exit(r.status === 200 ? 0 : 1), () => process.exit(1))'`
  await machine.run(`for i in $(seq 60); do ${tried} && exit; sleep 0.5; done; exit 1`)
  const reached = `fetch("${base}/ann-dev/", { headers: ${headers} }).then((r) => console.log(r.status))`
  assert.match(await machine.run(`${node} --eval '${reached}'`), /200/)
  assert.equal(await machine.run(`cat ${note}`), `${words}\n`)
}
