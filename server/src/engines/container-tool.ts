/**
 * The container tool: a static program of ours that the engine's exec starts in containers of users, whatever their image
 * has. Its source and its commands are in `container-tool/berth-tool.c`.
 */

/** Where it is mounted in each container. */
export const containerToolFolder = '/.berth'
export const containerToolName = 'berth-tool'
export const containerTool = `${containerToolFolder}/${containerToolName}`

/** Exit code of its commands when nothing listens there. */
export const toolRefused = 10
