import { compare, type Loading } from '../measure.ts'
import type { Case } from './case.ts'
import { smallGets, strangersGets } from './loads.ts'

/**
 * What it costs to know the caller, as the difference of two gateways of ours: one whose apps are their owners', asked with
 * tokens that it has seen before, and one whose apps are everybody's, asked without. What is done with a token afterwards, the app
 * getting another one in its place, is in the difference too.
 */
export const tokenCase: Case = {
  name: 'token',
  async run(proxies, rounds) {
    const [ours, open] = [await proxies.ours(), await proxies.oursForAll()]
    const load: Loading = (target, seconds) => (target === open ? strangersGets : smallGets)(target, seconds)
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
