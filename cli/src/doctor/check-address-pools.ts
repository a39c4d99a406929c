import type { CheckContext, Finding } from './check.ts'

/** Networks that should be left: Berth needs one for some 900 containers, other programs of the host have theirs. */
const enough = 3

/** Whether the engine has addresses for further networks. */
export async function checkAddressPools({ engine }: CheckContext): Promise<Finding[]> {
  const { freeNetworks } = await engine.report()
  if (freeNetworks >= enough) return []
  return [
    {
      level: freeNetworks === 0 ? 'critical' : 'warning',
      what: `The engine has addresses for ${freeNetworks} more networks; without one launches fail when Berth needs another network.`,
      fix:
        'docker network prune; or add to /etc/docker/daemon.json: ' +
        '"default-address-pools": [{"base": "10.201.0.0/16", "size": 22}]; then: systemctl restart docker',
    },
  ]
}
