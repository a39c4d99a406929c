import rateLimit, { normalizeIP } from '@fastify/rate-limit'
import type { Endpoint } from '@berth/api/endpoints.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { BlockList, isIP, isIPv6 } from 'node:net'
import { refusals } from '#/errors.ts'

/** ms */
const window = 60_000
/** Addresses whose requests are counted at the same time; of more, those that asked longest ago are forgotten. */
const mostAddresses = 10_000

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

export interface RequestLimit {
  /** From one address in a minute; 0 is no limit. */
  readonly perMinute: number
  /** Address of the person behind a request; empty when it is not known. */
  readonly clientAddress: (request: FastifyRequest['raw']) => string
}

/** Whether strangers may call it, and it has to do with accounts: what somebody would try many addresses or links with. */
export const isLimited = ({ access, path }: Endpoint) => access === 'public' && path.startsWith('/api/auth/')

/**
 * Limits how often one address may call those endpoints, all of them together, whatever it asks for: known and unknown
 * mail addresses meet it alike. Far above what people do, because many of them may share an address. The machine itself
 * is exempt: behind a proxy there that is not in `TRUSTED_PROXIES` everybody would be one requester.
 * @returns what such a route calls first; it throws {Refusal} 429 with `Retry-After`
 */
export async function requestLimit(
  server: FastifyInstance,
  { perMinute, clientAddress }: RequestLimit,
): Promise<(request: FastifyRequest) => Promise<void>> {
  if (perMinute === 0) return async () => undefined
  await server.register(rateLimit, {
    global: false,
    max: perMinute,
    timeWindow: window,
    cache: mostAddresses,
    // Somebody who has one IPv6 address has 2^64 of them.
    keyGenerator: ({ raw }) => normalizeIP(clientAddress(raw), 64),
  })
  const count = server.createRateLimit()
  return async (request) => {
    if (isExempt(clientAddress(request.raw))) return
    const counted = await count(request)
    if (!counted.isAllowed && counted.isExceeded) throw refusals.tooManyRequests(perMinute, counted.ttlInSeconds)
  }
}

const isExempt = (address: string) => isIP(address) === 0 || loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
