// The chat template of the tiny model, in Jinja: ChatML, with tools the way Hermes-style models write them.
// A conversation without a system message and without tools has no system turn.

/** Template text; goes into tokenizer_config.json as `chat_template`. */
export const CHAT_TEMPLATE = `{%- set has_system = messages and messages[0].role == 'system' -%}
{%- if tools or has_system -%}
{{- '<|im_start|>system\\n' -}}
{%- if has_system -%}{{- messages[0].content -}}{%- endif -%}
{%- if tools -%}
{%- if has_system -%}{{- '\\n\\n' -}}{%- endif -%}
{{- 'Tools you may call, one JSON signature a line:\\n<tools>' -}}
{%- for tool in tools -%}{{- '\\n' + (tool | tojson) -}}{%- endfor -%}
{{- '\\n</tools>\\nA call is written so:\\n<tool_call>\\n{"name": NAME, "arguments": ARGUMENTS}\\n</tool_call>' -}}
{%- endif -%}
{{- '<|im_end|>\\n' -}}
{%- endif -%}
{%- for message in messages -%}
{%- if message.role == 'tool' -%}
{%- if loop.first or messages[loop.index0 - 1].role != 'tool' -%}{{- '<|im_start|>user' -}}{%- endif -%}
{{- '\\n<tool_response>\\n' + message.content + '\\n</tool_response>' -}}
{%- if loop.last or messages[loop.index0 + 1].role != 'tool' -%}{{- '<|im_end|>\\n' -}}{%- endif -%}
{%- elif message.role == 'assistant' -%}
{{- '<|im_start|>assistant\\n' -}}
{%- if message.content -%}{{- message.content -}}{%- endif -%}
{%- for call in message.tool_calls or [] -%}
{%- set function = call.function if call.function else call -%}
{%- if not loop.first or message.content -%}{{- '\\n' -}}{%- endif -%}
{{- '<tool_call>\\n{"name": "' + function.name + '", "arguments": ' -}}
{%- if function.arguments is string -%}{{- function.arguments -}}{%- else -%}{{- function.arguments | tojson -}}{%- endif -%}
{{- '}\\n</tool_call>' -}}
{%- endfor -%}
{{- '<|im_end|>\\n' -}}
{%- elif not (loop.first and message.role == 'system') -%}
{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' -}}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}
`;
