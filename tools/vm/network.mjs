import assert from 'node:assert/strict'

/** @import { Fact, Machine } from './installation.mjs' */

/** In ms: a start of the engine with twenty containers, or of firewalld, takes minutes where all is emulated. */
const slow = 1_800_000

/** What runs a command on a machine beside this one. */
const client = 'ip netns exec client'
const addresses = { ipv4: '192.0.2.1', ipv6: 'fd00:be::1' }

/**
 * What networks and firewalls of operators are like: each a sentence and what shows it.
 * @type {readonly Fact[]}
 */
export const network = [
  [
    'with firewalld Berth answers once its port is open, and its rules hold after a reload and a restart of the engine',
    async ({ vm, berth }, t) => {
      await openToOthers({ vm, berth })
      const before = [await berth.launch('kept1'), await berth.launch('kept2')]
      const there = berth.from(`http://${addresses.ipv4}:8080`, client)
      assert.equal(await there.status('/ann-kept1/'), 200)
      try {
        await vm.run('systemctl start firewalld', { limitMs: slow })
        // That of Debian 12 is started before it has set its rules.
        await vm.until('firewalld has its rules', 'firewall-cmd --quiet --state')
        await assert.rejects(there.status('/ann-kept1/'), /connect/i)
        const open = 'firewall-cmd --quiet --permanent --add-port=8080/tcp --add-port=2222/tcp'
        await vm.run(`${open} && firewall-cmd --quiet --reload`, { limitMs: slow })
        await holds({ vm, berth }, t)
        assert.equal(await there.status('/ann-kept1/'), 200)
        await vm.run('systemctl restart docker', { limitMs: slow })
        assert.deepEqual([await there.answers('kept1'), await there.answers('kept2')], before)
        await holds({ vm, berth }, t)
        // The engine of this Debian gives up its own isolation at a reload (CVE-2025-54410).
        await vm.run('firewall-cmd --quiet --reload', { limitMs: slow })
        await holds({ vm, berth }, t)
        assert.deepEqual([await there.answers('kept1'), await there.answers('kept2')], before)
        await berth.launch('web')
        assert.deepEqual(await alarms(berth), [])
      } finally {
        await vm.run('systemctl stop firewalld && systemctl restart docker', { limitMs: slow })
      }
    },
  ],
  [
    'on a network of IPv6 alone Berth and the engine start, and people sign in, launch and use SSH by IPv6',
    async ({ vm, berth }) => {
      await openToOthers({ vm, berth })
      const before = await berth.launch('kept1')
      const file = '/etc/systemd/network/15-ipv6.network'
      const reconfigure = 'networkctl reload && networkctl reconfigure $(basename /sys/class/net/en*)'
      const noIpv4 = `[ -z "$(ip -4 -oneline address show dev $(basename /sys/class/net/en*))" ]`
      await vm.run('ip -n client address del 192.0.2.2/24 dev eth0; ip address del 192.0.2.1/24 dev lan')
      await vm.run(`cat >${file} && ${reconfigure}`, { input: onlyIpv6 })
      try {
        await vm.until('the machine has no address of IPv4', noIpv4)
        await vm.until('it has one of IPv6', 'ip -6 -oneline route show default | grep --quiet .')
        await vm.run('systemctl restart docker && systemctl restart berth', { limitMs: slow })
        const there = berth.from(`http://[${addresses.ipv6}]:8080`, client)
        await there.ready()
        assert.equal(await there.answers('kept1'), before)
        await there.enter('login')
        await there.launch('kept3')
        assert.match(
          await vm.run(`${client} timeout 60 busybox nc ${addresses.ipv6} 2222 </dev/null | head -n 1`),
          /^SSH-2\.0-/,
        )
        assert.match(await vm.run('ip6tables-save'), /-A INPUT -j BERTH-INPUT/)
        assert.deepEqual(await alarms(berth), [])
      } finally {
        await vm.run(`rm ${file} && ${reconfigure}`)
        await vm.run('ip -n client address add 192.0.2.2/24 dev eth0; ip address add 192.0.2.1/24 dev lan')
      }
    },
  ],
]

/** @param {Machine['berth']} berth */
const alarms = async (berth) => (await berth.findings()).filter(({ level }) => level === 'critical')

/** Router advertisements alone, as in a network without IPv4. */
const onlyIpv6 = `[Match]
Name=en*
[Network]
DHCP=no
LinkLocalAddressing=ipv6
IPv6AcceptRA=yes
`

/** Lets Berth answer others, and makes a machine that asks: a network namespace with a cable to this one. @param {Pick<Machine, 'vm' | 'berth'>} machine */
async function openToOthers({ vm, berth }) {
  if ((await vm.run('ip netns list')).includes('client')) return
  await vm.run(`ip netns add client && ip link add lan type veth peer name eth0 netns client
    ip address add ${addresses.ipv4}/24 dev lan && ip address add ${addresses.ipv6}/64 dev lan nodad && ip link set lan up
    ip -n client address add 192.0.2.2/24 dev eth0 && ip -n client address add fd00:be::2/64 dev eth0 nodad
    ip -n client link set eth0 up && ip -n client link set lo up`)
  await vm.run(
    `grep --quiet ^HOST= /etc/berth/berth.env || printf 'HOST=::\nSSH_LISTEN=[::]:2222\n' >>/etc/berth/berth.env`,
  )
  await vm.run('systemctl restart berth', { limitMs: slow })
  await berth.ready()
}

/**
 * Until a container reaches neither a service of the host nor a neighbour, and is told so at once.
 * @param {Pick<Machine, 'vm' | 'berth'>} machine
 * @param {import('node:test').TestContext} t
 */
async function holds({ vm, berth }, t) {
  const begun = performance.now()
  const network = '{{range .NetworkSettings.Networks}}{{.Gateway}} {{.IPAddress}}{{end}}'
  const [neighbour = '', own = ''] = [await berth.id('kept2'), await berth.id('kept1')]
  const [, address] = (await vm.run(`docker inspect --format '${network}' ${neighbour}`)).trim().split(' ')
  const [gateway] = (await vm.run(`docker inspect --format '${network}' ${own}`)).trim().split(' ')
  for (const [port, host] of /** @type {const} */ ([
    [22, gateway],
    [8080, gateway],
    [8080, address],
  ])) {
    const ask = `docker exec ${own} busybox wget -T 5 -q -O /dev/null http://${host}:${port}/ 2>&1`
    // `wget` of a service that speaks no HTTP fails, too: in other words.
    await vm.until(`${host}:${port} refuses`, `${ask} | grep --quiet 'Connection refused'`, 120_000)
  }
  t.diagnostic(`the rules held after ${Math.round((performance.now() - begun) / 1000)} s`)
}
