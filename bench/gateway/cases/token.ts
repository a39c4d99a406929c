import { compare, type Loading } from '../measure.ts'
import type { Case } from './case.ts'
import { smallGets, anonymousGets } from './loads.ts'

/**
 * The cost of authentication, as the difference of two of our gateways: one whose apps are private, with tokens seen
 * before, and one whose apps are public, without tokens. The replacement of the token by the app's own is included.
 */
export const tokenCase: Case = {
  name: 'token',
  async run(proxies, rounds) {
    const [ours, open] = [await proxies.ours(), await proxies.oursForAll()]
    const load: Loading = (target, seconds) => (target === open ? anonymousGets : smallGets)(target, seconds)
    const { ours: withToken, peer: without } = await compare(ours, open, load, rounds)
    const difference = withToken.cpu - without.cpu
    return [
      {
        title: 'token check, as difference to a public app',
        ours: `${difference.toFixed(1)} us`,
        note: `${withToken.cpu.toFixed(1)} us with, ${without.cpu.toFixed(1)} us without`,
        goal: 'at most 1 us',
        isMet: difference <= 1,
      },
    ]
  },
}
