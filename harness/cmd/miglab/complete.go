package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// completeFlag has the shell complete the values of a flag. Of several values joined by commas
// it completes the last one.
func completeFlag(c *cobra.Command, flag string, complete func(typed string) []string) {
	err := c.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		begin := strings.LastIndex(typed, ",") + 1
		var out []string
		for _, value := range complete(typed[begin:]) {
			out = append(out, typed[:begin]+value)
		}
		return out, cobra.ShellCompDirectiveNoSpace
	})
	if err != nil {
		panic(err)
	}
}
