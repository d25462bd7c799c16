package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// completeNames has the shell complete one of the names.
func completeNames(c *cobra.Command, flag string, names []string) {
	completeFlag(c, flag, func(typed string) (out []string) {
		for _, name := range names {
			if strings.HasPrefix(name, typed) {
				out = append(out, name)
			}
		}
		return out
	})
}

// completeFlag has the shell complete the values of a flag. Of several values joined by commas
// it completes the last one.
func completeFlag(c *cobra.Command, flag string, complete func(typed string) []string) {
	err := c.RegisterFlagCompletionFunc(flag,
		func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
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
