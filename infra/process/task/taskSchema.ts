// The JSON schema of task.yaml. Every field has a description, which error messages and docs quote.

const positive = { type: 'number', exclusiveMinimum: 0 };

/** Version 1 of task.yaml. */
export const taskSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['version', 'instruction', 'verifier'],
  properties: {
    version: { const: 1, description: 'format version, always 1' },
    id: {
      type: 'string',
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$',
      description: 'name of the task; default: the name of its folder',
    },
    instruction: { type: 'string', pattern: '\\S', description: 'what the agent is asked to do' },
    workspace: { type: 'string', minLength: 1, description: 'folder of initial files; default: workspace' },
    verifier: {
      type: 'object',
      additionalProperties: false,
      oneOf: [{ required: ['command'] }, { required: ['script'] }],
      properties: {
        command: {
          type: 'array',
          minItems: 1,
          items: { type: 'string' },
          description: 'command line of the grader, run in the folder of grader files',
        },
        script: { type: 'string', minLength: 1, description: 'POSIX shell script among the grader files' },
        files: { type: 'string', minLength: 1, description: 'folder of grader files; default: grader' },
        timeoutSeconds: { ...positive, maximum: 86_400, description: 'default: 60' },
        exitCode: {
          type: 'boolean',
          description: 'without a reported number: exit code 0 is reward 1, another one reward 0',
        },
        criteria: {
          type: 'object',
          minProperties: 1,
          additionalProperties: positive,
          description: 'name -> weight; the reward is the weighted mean of what the grader reports',
        },
        pass: {
          type: 'number',
          minimum: 0,
          maximum: 1,
          description: 'reward that counts as passed; default: 1',
        },
      },
    },
    limits: {
      type: 'object',
      additionalProperties: false,
      properties: {
        wallSeconds: { ...positive, maximum: 86_400 },
        memoryMb: positive,
        processes: { type: 'integer', minimum: 1 },
        diskMb: positive,
      },
    },
  },
} as const;
