/**
 * Which containers can have a host of their own: `{slug}-{type}` has to be one label of DNS. Gateway, settings and templates
 * share the rule; it imports nothing of ours.
 */

/** Octets of a label. Source: RFC 1035, 2.3.4. */
export const maxLabel = 63

/** Max length of a slug: 24 characters, and 4 random ones when that is taken. */
const maxSlug = 28

/** Max length of a type whose containers have a host, whatever their owner's slug. */
export const maxLabelEnd = maxLabel - maxSlug - 1

/** Max length of a host name, in octets. Source: RFC 1035, 2.3.4. */
export const maxHostName = 253

/**
 * Whether containers of a type can have a host. Capitals are excluded, because hosts have no case; a hyphen in front, because
 * a label with two hyphens after its second character is an encoded one (RFC 5890, 2.3.1).
 */
export const isLabelEnd = (type: string) => type.length <= maxLabelEnd && /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(type)

/** Whether a text has the form of `{slug}-{type}` as a label: there may be a container, or none. */
export const isContainerLabel = (text: string) =>
  text.length <= maxLabel && /^[a-z0-9]+-[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(text)

/** First segment of the paths on a container's host that are Berth's own; everything else is the app's. */
export const reservedSegment = '.berth'

/** Where a browser hands in the code that opens a container's host to it. */
export const entryPath = `/${reservedSegment}/enter`
