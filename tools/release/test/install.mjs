/**
 * `npm run test:release`: installs each artefact of `dist/` on a fresh Debian 12 with its own Docker Engine, and does the main job:
 * sign up and in by mail, launch a container, reach it through the gateway. Needs root, a Docker Engine and, the first time,
 * debootstrap and a network. Its last result is in docs/how-to/install-the-package.md.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { script, startMachine } from './debian-machine.mjs'
import { olderPackage } from './older-package.mjs'
import { tickingTemplates } from '../../../server/test/support/ticking-app.ts'

/** @import { Machine } from './debian-machine.mjs' */

const dist = resolve(import.meta.dirname, '../../../dist')
const base = 'http://127.0.0.1:8080'
/** In ms, on two cores with little else to do. Limits grow with that of the machine at hand. */
const usualInstallation = 14_000
const hundredFiftyMB = 150_000_000

const artefact = (/** @type {RegExp} */ pattern) => {
  const name = existsSync(dist) ? readdirSync(dist).find((each) => pattern.test(each)) : undefined
  if (name === undefined) throw new Error(`dist/ has no ${pattern}: npm run release`)
  return join(dist, name)
}

/**
 * @param {Machine} machine
 * @param {string} node how its Node is called, with `-i` where that needs it
 * @param {string} dataDir
 * @param {'signup' | 'login'} [first]
 * @returns {Promise<{ ready: number, container: number, token: string }>} in ms from its start
 */
async function doMainJob(machine, node, dataDir, first = 'signup') {
  const command = `${node} --input-type=module - ${base} ${dataDir} ann@x.org ${first}`
  return JSON.parse(await machine.run(command, { input: script('main-job.mjs') }))
}

test('the checksums of SHA256SUMS are those of the files', () => {
  execFileSync('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: dist })
})

test('the tarball runs where it is unpacked, without npm, and does the main job', async (t) => {
  const machine = await startMachine(t)
  machine.copyIn(artefact(/linux-x64\.tar\.gz$/), '/root/berth.tar.gz')
  await machine.run('mkdir /opt/berth && tar -xzf /root/berth.tar.gz -C /opt/berth --strip-components=1')
  await machine.run('systemd-run --unit=berth --property=WorkingDirectory=/root /opt/berth/berth start')
  const took = await doMainJob(machine, '/opt/berth/node', '/opt/berth/data')
  t.diagnostic(`tarball: ready after ${took.ready} ms, first container after ${took.container} ms`)
  assert.match(await machine.run('/opt/berth/berth users list'), /ann@x\.org/)
  await machine.run('systemctl stop berth')
})

test('the image has less than 150 MB, runs as an account without rights, is healthy, and does the main job', async (t) => {
  const machine = await startMachine(t)
  machine.copyIn(artefact(/oci-amd64\.tar$/), '/root/berth.tar')
  const [, name = ''] =
    /Loaded image: (\S+)/.exec(await machine.run('docker load --quiet --input /root/berth.tar')) ?? []
  const size = Number(await machine.run(`docker image inspect --format '{{.Size}}' ${name}`))
  t.diagnostic(`image: ${(size / 1e6).toFixed(0)} MB`)
  assert.ok(size < hundredFiftyMB, `${size} bytes`)
  const socket = '--volume /var/run/docker.sock:/var/run/docker.sock --group-add $(stat -c %g /var/run/docker.sock)'
  const how = `--detach --name berth --network host ${socket} --volume berth:/var/lib/berth --health-interval 2s`
  await machine.run(`docker run ${how} ${name}`)
  const took = await doMainJob(machine, 'docker exec -i berth /usr/lib/berth/node', '/var/lib/berth')
  t.diagnostic(`image: ready after ${took.ready} ms, first container after ${took.container} ms`)
  assert.match(await machine.run('docker exec berth id -u'), /^10001$/m)
  const health = `for i in $(seq 20); do docker inspect --format '{{.State.Health.Status}}' berth | grep -qx healthy && echo healthy && break; sleep 1; done`
  assert.match(await machine.run(health), /healthy/)
  assert.match(await machine.run('docker exec berth berth users list'), /ann@x\.org/)
  assert.match(await machine.run('docker exec berth berth templates check code-server,vite'), /is right/)
  await machine.run('docker stop --time 25 berth')
  assert.match(await machine.run(`docker inspect --format '{{.State.ExitCode}}' berth`), /^0$/m)
})

test('gateway and API of the image run as two services, and the API is replaced under an open stream', async (t) => {
  const machine = await startMachine(t)
  machine.copyIn(artefact(/oci-amd64\.tar$/), '/root/berth.tar')
  const [, name = ''] =
    /Loaded image: (\S+)/.exec(await machine.run('docker load --quiet --input /root/berth.tar')) ?? []
  await machine.run('cat >/root/templates.json', { input: tickingTemplates })
  const link = '--env BERTH_LINK_DIR=/run/berth --volume link:/run/berth'
  await machine.run(
    `docker run --rm --user 0 --entrypoint chown --volume link:/run/berth ${name} 10001:10001 /run/berth`,
  )
  await machine.run(`docker run --detach --restart always --name gateway --network host ${link} ${name} gateway`)
  const engine = '--volume /var/run/docker.sock:/var/run/docker.sock --group-add $(stat -c %g /var/run/docker.sock)'
  const api = (/** @type {string} */ settings) =>
    `docker run --detach --restart always --name api --network host ${link} ${engine} ${settings} --volume data:/var/lib/berth ${name} api`
  await machine.run(api(''))
  const node = 'docker exec -i api /usr/lib/berth/node'
  await doMainJob(machine, node, '/var/lib/berth')
  await machine.run('docker stop api && docker rm api')
  const templates = '--volume /root/templates.json:/templates.json:ro --env CONTAINER_TEMPLATES_FILE=/templates.json'
  await machine.run(api(templates))
  const { token } = await doMainJob(machine, node, '/var/lib/berth', 'login')
  const restart = `fetch("${base}/api/container/restart/dev", { method: "POST", headers: { authorization: "Bearer ${token}" } })`
  await machine.run(`${node} --eval '${restart}' && sleep 5`)
  const observer = 'docker exec -i gateway /usr/lib/berth/node --input-type=module -'
  const watching = machine.start(`${observer} ${base} ${token} /ann-dev/ 20`, script('observe.mjs'))
  let said = ''
  watching.stdout?.on('data', (chunk) => (said += chunk))
  while (!said.includes('observing')) await once(watching.stdout ?? watching, 'data')
  // As docs/how-to/run-gateway-and-api-apart.md says.
  const waits = 'until docker logs api 2>&1 | grep -q "another API process serves"; do sleep 0.2; done'
  await machine.run(
    `docker rename api old && ${api(templates)} && ${waits} && docker stop --time 25 old && docker rm old`,
  )
  await once(watching, 'exit')
  const seen = JSON.parse(said.slice(said.indexOf('{')))
  t.diagnostic(`API container replaced: ${JSON.stringify(seen)}`)
  assert.ok(seen.isStreamOpen && seen.isSocketOpen, said)
  assert.ok(seen.containerGap < 1_000, `the container was away for ${seen.containerGap} ms`)
  assert.ok(seen.apiGap < 2_000, `the API was away for ${seen.apiGap} ms`)
  assert.doesNotMatch(await machine.run('docker logs gateway 2>&1'), /is refused|has not answered/)
})

test('the package installs in less than 60 s, is upgraded under open connections, and keeps homes when it is purged', async (t) => {
  const machine = await startMachine(t)
  const deb = artefact(/_amd64\.deb$/)
  let session = ''
  let slowness = 1
  machine.copyIn(olderPackage(t, deb), '/root/older.deb')
  machine.copyIn(deb, '/root/berth.deb')

  await t.test('installed and ready', async (t) => {
    const start = performance.now()
    const printed = await machine.run('dpkg --install /root/older.deb')
    const installed = Math.round(performance.now() - start)
    const { ready, container } = await doMainJob(machine, '/usr/lib/berth/node', '/var/lib/berth')
    t.diagnostic(
      `package: dpkg took ${installed} ms, ready ${ready} ms later; first container ${container} ms after that`,
    )
    assert.ok(installed + ready < 60_000)
    slowness = Math.max(1, (installed + ready) / usualInstallation)
    assert.match(printed, /Settings: \/etc\/berth\/berth\.env/)
    assert.match(await machine.run('systemctl is-enabled berth berth-backup.timer'), /enabled\nenabled/)
    assert.match(
      await machine.run(
        'systemd-analyze verify berth.service berth-backup.service berth-backup.timer 2>&1; echo rc=$?',
      ),
      /^rc=0$/m,
    )
    const [, exposure = ''] =
      /Overall exposure level for berth.service: ([\d.]+)/.exec(
        await machine.run('systemd-analyze security berth.service --no-pager'),
      ) ?? []
    t.diagnostic(`systemd-analyze security: exposure ${exposure}`)
    assert.ok(Number(exposure) < 3, `exposure ${exposure}`)
    assert.match(await machine.run('berth users list'), /ann@x\.org/)
    assert.doesNotMatch(await machine.run('journalctl --unit berth --no-pager'), /EPERM|EACCES|EROFS|denied/)
  })

  await t.test('the service, an account without root, has set the rules of the host, and says so', async () => {
    assert.match(await machine.run('stat -c %U /proc/$(systemctl show --property=MainPID --value berth)'), /^berth$/m)
    assert.match(await machine.run('iptables-save'), /-A INPUT -j BERTH-INPUT/)
    const { passed, findings } = JSON.parse(await machine.run('berth doctor --json 2>/dev/null || true'))
    assert.ok(passed.includes('host rules'), JSON.stringify(findings))
  })

  await t.test('the timer makes a backup, with homes', async () => {
    await machine.run('systemctl start berth-backup.service')
    assert.match(await machine.run('ls /var/backups/berth/berth-*/homes'), /\.tar/)
  })

  await t.test('an upgrade keeps changed settings, streams and WebSockets', async (t) => {
    await machine.run('cat >/etc/berth/templates.json', { input: tickingTemplates })
    await machine.run(
      'chmod 0644 /etc/berth/templates.json && berth init --yes --no-check --set SUPPORT_CONTACT=room-12',
    )
    assert.match(await machine.run('berth config check'), /./)
    assert.match(await machine.run('berth templates check code-server,vite'), /is right/)
    await machine.run(
      'echo CONTAINER_TEMPLATES_FILE=/etc/berth/templates.json >>/etc/berth/berth.env && systemctl reload berth && sleep 3',
    )
    await machine.run('berth containers list --json >/dev/null')
    const { token } = await doMainJob(machine, '/usr/lib/berth/node', '/var/lib/berth', 'login')
    session = token
    const headers = JSON.stringify({ authorization: `Bearer ${token}` })
    await machine.run(
      `/usr/lib/berth/node --eval 'fetch("${base}/api/container/restart/dev", { method: "POST", headers: ${headers} }).then((r) => console.log(r.status))' && sleep 5`,
    )
    const observer = machine.start(
      `/usr/lib/berth/node --input-type=module - ${base} ${token} /ann-dev/ 20`,
      script('observe.mjs'),
    )
    let said = ''
    observer.stdout?.on('data', (chunk) => (said += chunk))
    while (!said.includes('observing')) await once(observer.stdout ?? observer, 'data')
    await machine.run('chmod 0750 /var/backups/berth')
    const printed = await machine.run('dpkg --install /root/berth.deb')
    await once(observer, 'exit')
    assert.match(await machine.run('stat -c %a /var/backups/berth'), /^750$/m)
    const seen = JSON.parse(said.slice(said.indexOf('{')))
    t.diagnostic(`upgrade by reload: ${JSON.stringify(seen)}`)
    assert.match(printed, /connections to containers stay open/)
    assert.ok(seen.isStreamOpen && seen.isSocketOpen, said)
    assert.ok(seen.apiGap < 2_000 * slowness, `the API was away for ${seen.apiGap} ms`)
    assert.ok(seen.containerGap < 1_000 * slowness, `the container was away for ${seen.containerGap} ms`)
    assert.match(await machine.run('cat /etc/berth/berth.env'), /SUPPORT_CONTACT=room-12\n[^]*templates\.json/)
  })

  await t.test('removed and purged, homes and store stay, and a new installation finds them', async () => {
    assert.match(await machine.run('dpkg --remove berth'), /go on running/)
    assert.match(await machine.run('docker ps --filter label=berth.instance --format "{{.Names}}"'), /ann/)
    const printed = await machine.run('dpkg --purge berth')
    assert.match(printed, /Kept, because they are the work of users/)
    assert.match(await machine.run('docker volume ls --quiet --filter label=berth.instance'), /ann-dev/)
    assert.match(await machine.run('ls /var/lib/berth'), /berth\.sqlite/)
    assert.match(await machine.run('ls /etc/berth; ls -d /usr/lib/berth /usr/bin/berth 2>&1 || true'), /No such file/)
    await machine.run('dpkg --install /root/berth.deb')
    const reached = `fetch("${base}/ann-dev/", { headers: { authorization: "Bearer ${session}" } })`
    await machine.run(
      `for i in $(seq 60); do /usr/lib/berth/node --eval '${reached}.then((r) => process.exit(r.status === 200 ? 0 : 1))' 2>/dev/null && exit; sleep 0.5; done; exit 1`,
    )
    assert.match(await machine.run('berth users list'), /ann@x\.org/)
  })
})

test('a bare Debian has its first container over https within ten minutes, by the commands of the how-to pages', async (t) => {
  const machine = await startMachine(t, 'bare')
  const host = 'spawner.berth.test'
  const certificate = makeCertificate(t, host)
  machine.copyIn(artefact(/_amd64\.deb$/), '/root/berth.deb')
  const start = performance.now()
  /** @type {[string, string][]} */
  const steps = [
    // In place of a DNS record.
    ['name', `echo '127.0.0.1 ${host}' >>/etc/hosts`],
    ['engine', 'apt-get update && apt-get install --yes --no-install-recommends docker.io iptables busybox-static'],
    ['package', 'apt-get install --yes --no-install-recommends /root/berth.deb'],
    // In place of certbot.
    ['certificate', `cat >/etc/berth/tls.pem && chown berth /etc/berth/tls.pem`],
    ['key', `install --mode=0600 --owner=berth /dev/stdin /etc/berth/tls.key`],
    [
      'settings',
      'berth init --yes --domain berth.test --subdomain spawner --scheme https --host 0.0.0.0 --port 443 --smtp-url none ' +
        '--tls-cert-file /etc/berth/tls.pem --tls-key-file /etc/berth/tls.key --sign-up open --admin-emails ann@x.org',
    ],
    ['restart', 'systemctl restart berth'],
  ]
  /** @type {Record<string, string>} */
  const inputs = { certificate: certificate.cert, key: certificate.key }
  for (const [name, command] of steps) {
    const begin = performance.now()
    const quiet = `export DEBIAN_FRONTEND=noninteractive; ${command}`
    await machine.run(quiet, { limitMs: 300_000, ...(inputs[name] && { input: inputs[name] }) })
    t.diagnostic(`${name}: ${((performance.now() - begin) / 1000).toFixed(1)} s`)
  }
  const node = `NODE_EXTRA_CA_CERTS=/etc/berth/tls.pem /usr/lib/berth/node`
  const command = `${node} --input-type=module - https://${host} /var/lib/berth ann@x.org signup`
  await machine.run(command, { input: script('main-job.mjs') })
  const took = performance.now() - start
  t.diagnostic(`bare Debian to the first container over https: ${(took / 1000).toFixed(0)} s of commands`)
  assert.ok(took < 600_000)
})

/**
 * A certificate that vouches for itself.
 * @param {import('node:test').TestContext} t
 * @param {string} host
 */
function makeCertificate(t, host) {
  const folder = mkdtempSync(join(tmpdir(), 'berth-release-tls-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const name = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`, '-days', '30']
  const how = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, ...name]
  execFileSync('openssl', how, { stdio: 'ignore' })
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
}

test('the list of contents names Node, the packages of the program and no development package', () => {
  const { components } = JSON.parse(readFileSync(artefact(/\.cdx\.json$/), 'utf8'))
  const names = components.map((/** @type {{ name: string }} */ { name }) => name)
  for (const name of ['node', 'fastify', 'pg', '@lydell/node-pty', 'react']) assert.ok(names.includes(name), name)
  for (const name of ['typescript', 'oxlint', 'playwright-core']) assert.ok(!names.includes(name), name)
})
