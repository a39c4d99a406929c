import { startMailServer } from '../../support/mail/mail-server.ts'
import type { Lifetime } from '../../support/berth.ts'
import { waitFor } from '../../support/program.ts'
import { startEngineMachine } from './engine-machine.ts'
import { startFailoverDatabase } from './failover-database.ts'
import { openMachines } from './machines.ts'
import { makeNextVersion } from './next-version.ts'
import { addNodeMachine, type NodeMachine } from './node-machine.ts'
import type { Lead, Order } from './order-log.ts'
import { ask, People } from './people.ts'

/** How long nodes may take until they serve by the present state, in ms. */
const limit = 90_000

/**
 * Two nodes, an engine, and PostgreSQL with a standby, each on a machine of its own as far as the network goes; users with
 * containers. @param violate gets what must not be, in words
 */
export async function openBench(lifetime: Lifetime, users: number, violate: (words: string) => void) {
  const machines = await openMachines(lifetime)
  const [engine, database, mail] = await Promise.all([
    startEngineMachine(lifetime, machines),
    startFailoverDatabase(lifetime, machines),
    startMailServer(),
  ])
  lifetime.after(() => mail.close())
  const command = ['/bin/sh', '-c', 'echo "$BERTH_EMAIL" > /tmp/who; exec /bin/httpd -f -p 8080 -h /tmp']
  const template = {
    display_name: 'Development',
    description: '',
    image: engine.image,
    command,
    home: null,
    memory: '32m',
  }
  const orders: Order[] = []
  const env = {
    DATABASE_URL: database.url,
    NODE_SECRET: 'a secret of these nodes, and of no others',
    BASE_DOMAIN: 'berth.localhost',
    SMTP_URL: `smtp://${await machines.expose(Number(new URL(mail.url).port))}`,
    SMTP_TLS: 'opportunistic',
    CONTAINER_TEMPLATES: JSON.stringify({ dev: template }),
    NEW_ADDRESSES_PER_HOUR: '1000000',
  }
  const nodes: NodeMachine[] = []
  for (const [index, name] of ['node1', 'node2'].entries())
    nodes.push(await addNodeMachine(lifetime, name, 11 + index, { machines, engine, orders, env }))
  const people = new People(nodes, mail, database, violate)
  const statuses = async (node: NodeMachine) => {
    const answer = await ask(node, '/api/admin/system', people.boss)
    if (answer?.status !== 200) return []
    return (
      JSON.parse(answer.body) as { nodes: { address: string; leads_since: string | null; is_current: boolean }[] }
    ).nodes
  }
  const untilCurrent = () =>
    waitFor(
      'all nodes to be current',
      async () => {
        const seen = await Promise.all(nodes.map(statuses))
        return seen.every((all) => nodes.every(({ node }) => all.some((one) => one.address === node && one.is_current)))
      },
      limit,
    )
  for (const node of nodes) node.start()
  for (const node of nodes)
    await waitFor(`${node.name} to be ready`, async () => (await ask(node, '/readyz'))?.status === 200, limit)
  await people.begin(users)
  await untilCurrent()
  return {
    machines,
    database,
    nodes,
    people,
    orders,
    untilCurrent,
    next: () => makeNextVersion(lifetime),
    leads: (): Lead[] => nodes.flatMap((each) => each.leads()),
    /** @throws when no node leads */
    roles: async () => {
      const all = await statuses(nodes[0] as NodeMachine)
      const address = all.find(({ leads_since }) => leads_since !== null)?.address
      const leader = nodes.find(({ node }) => node === address)
      const follower = nodes.find((each) => each !== leader)
      if (!leader || !follower) throw new Error('no node leads')
      return { leader, follower }
    },
  }
}

export type NodeBench = Awaited<ReturnType<typeof openBench>>
