import type { CheckContext, Finding } from './check.ts'
import { vulnerabilitiesOf } from './known-vulnerabilities.ts'

/** Whether the engine answers, keeps its own protections on, and has no known way out of a container. */
export async function checkEngine({ engine }: CheckContext): Promise<Finding[]> {
  let report
  try {
    report = await engine.report()
  } catch (error) {
    return [notAnswering(error as Error)]
  }
  const { address, versions, securityOptions } = report
  const isSecured = securityOptions.some((each) => /^name=seccomp\b/.test(each) && !/unconfined/.test(each))
  return [
    ...Object.entries(versions).flatMap(([component, version]) => vulnerabilitiesOf(component, version)),
    ...(isSecured || securityOptions.length === 0 ? [] : [withoutSeccomp]),
    ...(/^(tcp|http):/.test(address) && !/\/\/(localhost|127\.|\[::1\])/.test(address) ? [openEngine(address)] : []),
  ]
}

const notAnswering = ({ message, cause }: Error): Finding => ({
  level: 'critical',
  what: `The engine does not answer (${cause instanceof Error ? cause.message : message}): no container can be started or reached.`,
  fix: 'systemctl start docker; and set DOCKER_HOST if its socket is elsewhere',
})

const withoutSeccomp: Finding = {
  level: 'critical',
  what: 'The engine runs containers without its seccomp profile: they reach parts of the kernel that it closes.',
  fix: 'remove "seccomp-profile": "unconfined" from /etc/docker/daemon.json; then: systemctl restart docker',
}

const openEngine = (address: string): Finding => ({
  level: 'critical',
  what: `The engine is asked at ${address} without TLS: every program that reaches this address is root on its machine.`,
  fix: 'run Berth beside the engine and set DOCKER_HOST=unix:///var/run/docker.sock, or use https:// with a client certificate in a proxy',
})
