/** Kinds of machines as Debian and the image specification name them, by their names of Node. */
export const debianNames = { x64: 'amd64', arm64: 'arm64' }
